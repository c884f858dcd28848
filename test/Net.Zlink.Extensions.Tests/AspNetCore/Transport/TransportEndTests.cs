using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests.AspNetCore.Transport;

/// <summary>How connections under Kestrel end: by the client, by the application, by the host.</summary>
public sealed class TransportEndTests
{
    private const string Get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_request_is_aborted_when_its_client_leaves(bool byReset)
    {
        await using var web = new TransportFixture();
        (Task began, Task aborted) = await StartWaitingAsync(web);
        using RawClient client = await web.ConnectAsync(Get);
        await began.Guarded();
        if (byReset)
        {
            client.Reset();
        }
        else
        {
            client.Socket.Shutdown(SocketShutdown.Send);
        }

        await aborted.Guarded();
        if (!byReset)
        {
            Assert.Equal("", await client.ReadToEndAsync()); // An end, not a reset.
        }
    }

    [Fact]
    public async Task A_handler_that_still_writes_to_a_client_that_has_left_gets_no_exception_and_logs_no_error()
    {
        await using var web = new TransportFixture();
        var began = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var ended = new TaskCompletionSource<Exception?>(TaskCreationOptions.RunContinuationsAsynchronously);
        await web.StartAsync(app => app.MapGet("/", async (HttpContext context) =>
        {
            await context.Response.StartAsync();
            began.SetResult();
            ended.SetResult(await Record.ExceptionAsync(async () =>
            {
                while (!context.RequestAborted.IsCancellationRequested)
                {
                    await context.Response.WriteAsync("more", CancellationToken.None);
                }

                await context.Response.WriteAsync("still more", CancellationToken.None);
            }));
        }));
        using RawClient client = await web.ConnectAsync(Get);
        await began.Task.Guarded();
        client.Reset();
        Assert.Null(await ended.Task.Guarded());
    }

    [Fact]
    public async Task A_connection_that_the_application_aborts_is_reset()
    {
        await using var web = new TransportFixture();
        await web.StartAsync(app => app.Run(static async context =>
        {
            await context.Response.StartAsync();
            context.Abort();
        }));
        using RawClient client = await web.ConnectAsync(Get);
        SocketException failure = await Assert.ThrowsAsync<SocketException>(client.ReadToEndAsync);
        Assert.Equal(SocketError.ConnectionReset, failure.SocketErrorCode);
    }

    [Fact]
    public async Task An_answer_is_whole_when_the_server_closes_the_connection_behind_it()
    {
        const int Length = 3_000_000;
        await using var web = new TransportFixture();
        await web.StartAsync(app => app.MapGet("/", static () => new string('x', Length)));
        using RawClient client = await web.ConnectAsync("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        string answer = await client.ReadToEndAsync();
        Assert.True(answer.Length > Length);
        Assert.EndsWith("x\r\n0\r\n\r\n", answer, StringComparison.Ordinal); // The last chunk.
    }

    [Fact]
    public async Task A_host_that_stops_answers_the_requests_that_have_come_and_listens_no_more()
    {
        await using var web = new TransportFixture();
        var began = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await web.StartAsync(app => app.MapGet("/", async () =>
        {
            began.SetResult();
            await go.Task;
            return "late";
        }));
        Uri address = web.Address;
        Task<string> answer = web.Http.GetStringAsync(address, Guard.Token);
        await began.Task.Guarded();
        Task stopped = web.App.StopAsync(Guard.Token);
        await Guard.UntilAsync(() => IsRefused(address), "it listens no more");
        go.SetResult();
        Assert.Equal("late", await answer.Guarded());
        await stopped.Guarded();
    }

    [Fact]
    public async Task A_host_that_has_no_time_left_ends_its_connections()
    {
        await using var web = new TransportFixture();
        (Task began, Task aborted) = await StartWaitingAsync(web);
        using RawClient client = await web.ConnectAsync(Get);
        await began.Guarded();
        await web.App.StopAsync(new CancellationToken(canceled: true)).Guarded();
        await aborted.Guarded();
    }

    [Fact]
    public async Task A_connection_over_Kestrels_limit_is_closed_and_the_others_go_on()
    {
        await using var web = new TransportFixture();
        await web.StartAsync(
            app => app.MapGet("/", static () => "here"),
            configure: static builder => builder.WebHost.ConfigureKestrel(kestrel => kestrel.Limits.MaxConcurrentConnections = 1));
        Assert.Equal("here", await web.Http.GetStringAsync(web.Address, Guard.Token).Guarded());
        using RawClient second = await web.ConnectAsync("");
        Assert.Equal("", await second.ReadToEndAsync());
        Assert.Equal("here", await web.Http.GetStringAsync(web.Address, Guard.Token).Guarded());
    }

    [Fact]
    public async Task An_unbound_listener_accepts_nothing_more_and_keeps_its_connections()
    {
        await using var web = new TransportFixture();
        await web.StartAsync(static _ => { });
        IConnectionListenerFactory factory = web.App.Services.GetServices<IConnectionListenerFactory>().Last();
        await using IConnectionListener listener = await factory.BindAsync(new IPEndPoint(IPAddress.Loopback, 0), Guard.Token);
        using var client = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await client.ConnectAsync(listener.EndPoint, Guard.Token);
        await using ConnectionContext connection = (await listener.AcceptAsync(Guard.Token).Guarded())!;
        await listener.UnbindAsync(Guard.Token).Guarded();
        await listener.UnbindAsync(Guard.Token).Guarded();
        Assert.Null(await listener.AcceptAsync(Guard.Token).Guarded());
        await connection.Transport.Output.WriteAsync("still here"u8.ToArray(), Guard.Token);
        byte[] received = new byte[10];
        await using var stream = new NetworkStream(client);
        await stream.ReadExactlyAsync(received, Guard.Token).Guarded();
        Assert.Equal("still here"u8, received);
        Assert.False(connection.ConnectionClosed.IsCancellationRequested);
        client.Close(0);
        var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using (connection.ConnectionClosed.Register(closed.SetResult))
        {
            await closed.Task.Guarded();
        }
    }

    [Fact]
    public async Task A_listener_that_is_disposed_ends_the_connections_that_nobody_accepted()
    {
        await using var web = new TransportFixture();
        await web.StartAsync(static _ => { });
        IConnectionListenerFactory factory = web.App.Services.GetServices<IConnectionListenerFactory>().Last();
        IConnectionListener listener = await factory.BindAsync(new IPEndPoint(IPAddress.Loopback, 0), Guard.Token);
        using var client = new RawClient(new Socket(SocketType.Stream, ProtocolType.Tcp));
        await client.Socket.ConnectAsync(listener.EndPoint, Guard.Token);
        await listener.DisposeAsync().Guarded();

        // A reset, or an end for one that the listener did not know yet.
        Exception? failure = await Record.ExceptionAsync(async () => Assert.Equal("", await client.ReadToEndAsync()));
        Assert.True(failure is null or SocketException { SocketErrorCode: SocketError.ConnectionReset }, failure?.ToString());
    }

    private static bool IsRefused(Uri address)
    {
        using var client = new Socket(SocketType.Stream, ProtocolType.Tcp);
        try
        {
            client.Connect(address.Host, address.Port);
            return false;
        }
        catch (SocketException)
        {
            return true;
        }
    }

    private static async Task<(Task Began, Task Aborted)> StartWaitingAsync(TransportFixture web)
    {
        var began = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var aborted = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await web.StartAsync(app => app.MapGet("/", async (HttpContext context) =>
        {
            context.RequestAborted.Register(aborted.SetResult);
            began.SetResult();
            await aborted.Task;
        }));
        return (began.Task, aborted.Task);
    }
}
