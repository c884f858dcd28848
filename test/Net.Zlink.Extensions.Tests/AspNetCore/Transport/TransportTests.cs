using System.Net.WebSockets;
using System.Security.Cryptography;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.SignalR;
using Microsoft.AspNetCore.SignalR.Client;
using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests.AspNetCore.Transport;

/// <summary>What Kestrel serves over its own sockets, it serves over connections of the library.</summary>
public sealed class TransportTests
{
    private const int Large = 20 * 1024 * 1024;

    [Theory]
    [InlineData("http", HttpProtocols.Http1, "HTTP/1.1")]
    [InlineData("http", HttpProtocols.Http2, "HTTP/2")]
    [InlineData("https", HttpProtocols.Http1, "HTTP/1.1")]
    [InlineData("https", HttpProtocols.Http2, "HTTP/2")]
    public async Task A_web_application_answers_over_each_protocol(string scheme, HttpProtocols protocols, string expected)
    {
        await using var web = new TransportFixture();
        await web.StartAsync(
            app => app.MapGet("/", static (HttpContext context) =>
                $"{context.Request.Protocol} {context.Connection.RemoteIpAddress} {context.Connection.LocalPort}"),
            $"{scheme}://127.0.0.1:0",
            protocols);
        for (int i = 0; i < 3; i++)
        {
            using HttpRequestMessage request = web.Request(HttpMethod.Get, "/", protocols);
            using HttpResponseMessage response = await web.Http.SendAsync(request, Guard.Token).Guarded();
            Assert.Equal(
                $"{expected} 127.0.0.1 {web.Address.Port}",
                await response.Content.ReadAsStringAsync(Guard.Token).Guarded());
        }
    }

    [Theory]
    [InlineData("http", HttpProtocols.Http1)]
    [InlineData("http", HttpProtocols.Http2)]
    [InlineData("https", HttpProtocols.Http1)]
    public async Task Twenty_megabytes_go_up_and_come_back_unchanged(string scheme, HttpProtocols protocols)
    {
        await using var web = new TransportFixture();
        await web.StartAsync(
            app => app.MapPost("/", static async (HttpContext context) =>
            {
                using var copy = new MemoryStream();
                await context.Request.Body.CopyToAsync(copy, context.RequestAborted);
                await context.Response.Body.WriteAsync(copy.ToArray(), context.RequestAborted);
            }),
            $"{scheme}://127.0.0.1:0",
            protocols);
        byte[] sent = RandomNumberGenerator.GetBytes(Large);
        using HttpRequestMessage request = web.Request(HttpMethod.Post, "/", protocols, new ByteArrayContent(sent));
        using HttpResponseMessage response = await web.Http.SendAsync(request, Guard.Token).Guarded();
        byte[] received = await response.Content.ReadAsByteArrayAsync(Guard.Token).Guarded();
        Assert.True(sent.AsSpan().SequenceEqual(received));
    }

    [Fact]
    public async Task A_handler_waits_for_a_client_that_does_not_read()
    {
        await using var web = new TransportFixture();
        var blocked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        long written = 0;
        await web.StartAsync(app => app.MapGet("/", async (HttpContext context) =>
        {
            byte[] block = new byte[64 * 1024];
            for (int i = 0; i < 1024; i++)
            {
                ValueTask<System.IO.Pipelines.FlushResult> flush = context.Response.BodyWriter.WriteAsync(block);
                if (!flush.IsCompleted)
                {
                    blocked.TrySetResult();
                }

                await flush;
                written += block.Length;
            }
        }));
        using HttpResponseMessage response = await web.Http.GetAsync(
            web.Address, HttpCompletionOption.ResponseHeadersRead, Guard.Token).Guarded();
        await blocked.Task.Guarded();
        Assert.True(Volatile.Read(ref written) < 64 * 1024 * 1024, "all was taken");
        byte[] all = await response.Content.ReadAsByteArrayAsync(Guard.Token).Guarded();
        Assert.Equal(64 * 1024 * 1024, all.Length);
    }

    [Fact]
    public async Task A_WebSocket_echoes()
    {
        await using var web = new TransportFixture();
        await web.StartAsync(app => app.UseWebSockets().Run(static async context =>
        {
            using WebSocket socket = await context.WebSockets.AcceptWebSocketAsync();
            byte[] buffer = new byte[100];
            WebSocketReceiveResult received = await socket.ReceiveAsync(buffer, context.RequestAborted);
            await socket.SendAsync(buffer.AsMemory(0, received.Count), received.MessageType, endOfMessage: true, context.RequestAborted);
            await socket.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, "", context.RequestAborted);
        }));
        using var client = new ClientWebSocket();
        await client.ConnectAsync(new Uri($"ws://{web.Address.Authority}/"), Guard.Token).Guarded();
        await client.SendAsync("hello"u8.ToArray(), WebSocketMessageType.Text, endOfMessage: true, Guard.Token).Guarded();
        byte[] answer = new byte[100];
        WebSocketReceiveResult result = await client.ReceiveAsync(answer, Guard.Token).Guarded();
        Assert.Equal("hello"u8, answer.AsSpan(0, result.Count));
        result = await client.ReceiveAsync(answer, Guard.Token).Guarded();
        Assert.Equal(WebSocketMessageType.Close, result.MessageType);
    }

    [Fact]
    public async Task A_hub_of_SignalR_answers_and_calls_its_client()
    {
        await using var web = new TransportFixture();
        await web.StartAsync(app => app.MapHub<EchoHub>("/hub"), configure: static builder => builder.Services.AddSignalR());
        await using HubConnection hub = new HubConnectionBuilder().WithUrl(new Uri(web.Address, "/hub")).Build();
        var told = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.On<string>("told", told.SetResult);
        await hub.StartAsync(Guard.Token).Guarded();
        Assert.Equal("hello", await hub.InvokeAsync<string>("Echo", "hello", Guard.Token).Guarded());
        Assert.Equal("hello", await told.Task.Guarded());
    }

    [Fact]
    public async Task A_thousand_clients_are_answered_at_once()
    {
        const int Clients = 1000;
        await using var web = new TransportFixture();
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int here = 0;
        await web.StartAsync(app => app.MapGet("/", async () =>
        {
            if (Interlocked.Increment(ref here) == Clients)
            {
                all.SetResult();
            }

            await all.Task;
            return "all";
        }));
        Task<string>[] answers = [.. Enumerable.Range(0, Clients).Select(_ => web.Http.GetStringAsync(web.Address, Guard.Token))];
        Assert.All(await Task.WhenAll(answers).Guarded(), static answer => Assert.Equal("all", answer));
    }

    [Fact]
    public async Task A_connection_has_the_features_of_Kestrels_own_and_its_pipe()
    {
        await using var web = new TransportFixture();
        await web.StartAsync(app => app.MapGet("/", static (HttpContext context) =>
        {
            Assert.NotNull(context.Features.Get<IMemoryPoolFeature>()?.MemoryPool);
            Assert.NotNull(context.Features.Get<IConnectionLifetimeNotificationFeature>());
            IConnectionItemsFeature items = context.Features.Get<IConnectionItemsFeature>()!;
            bool isKnown = items.Items.ContainsKey("seen");
            items.Items["seen"] = true;
            StreamPipe pipe = context.Features.Get<StreamPipe>()!;
            IConnectionEndPointFeature ends = context.Features.Get<IConnectionEndPointFeature>()!;
            Assert.Equal(pipe.RemoteEndPoint, ends.RemoteEndPoint);
            Assert.Equal(pipe.LocalEndPoint, ends.LocalEndPoint);
            return $"{context.Features.Get<IConnectionIdFeature>()!.ConnectionId} {isKnown}";
        }));
        string[] first = (await web.Http.GetStringAsync(web.Address, Guard.Token).Guarded()).Split(' ');
        string[] second = (await web.Http.GetStringAsync(web.Address, Guard.Token).Guarded()).Split(' ');
        Assert.Equal([first[0], "False", first[0], "True"], [.. first, .. second]);
    }

    private sealed class EchoHub : Hub
    {
        public async Task<string> Echo(string text)
        {
            await Clients.Caller.SendAsync("told", text);
            return text;
        }
    }
}
