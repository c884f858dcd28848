using System.Buffers;
using System.Collections.Concurrent;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Extensions.Connections;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>STREAM servers of a host: handlers come from its container.</summary>
public sealed class StreamHostingTests
{
    private const string AnyPort = "tcp://127.0.0.1:*";

    [Fact]
    public async Task A_handler_is_one_for_all_peers_unless_it_is_registered_otherwise()
    {
        await using var host = new HostFixture();
        host.Services.AddSingleton<Made>();
        host.Services.AddZlinkStream(AnyPort, static stream => stream.UseHandler<Shout>(), "shout");
        await host.StartAsync();
        await using var client = new ZlinkContext();
        Assert.Equal("AB", await AskAsync(client, host, "shout", "ab"));
        Assert.Equal("CD", await AskAsync(client, host, "shout", "cd"));
        Assert.Equal(1, host.Get<Made>().Count);
    }

    [Fact]
    public async Task A_scoped_handler_is_made_for_each_connection_and_ends_with_it()
    {
        await using var host = new HostFixture();
        host.Services.AddSingleton<Made>();
        host.Services.AddScoped<Tracked>();
        host.Services.AddZlinkStream(AnyPort, static stream => stream.UseHandler<ScopedShout>(ServiceLifetime.Scoped), "shout");
        await host.StartAsync();
        await using var client = new ZlinkContext();
        Assert.Equal("AB", await AskAsync(client, host, "shout", "ab"));
        Assert.Equal("CD", await AskAsync(client, host, "shout", "cd"));
        Made made = host.Get<Made>();
        Assert.Equal(2, made.Count);
        await Guard.UntilAsync(() => made.Ended == 2, "both scopes have ended");
    }

    [Fact]
    public async Task A_connection_handler_serves_a_pipe_and_is_asked_to_end_when_the_host_stops()
    {
        await using var host = new HostFixture();
        host.Services.AddSingleton<Made>();
        host.Services.AddScoped<Tracked>();
        host.Services.AddZlinkStream(AnyPort, static stream => stream.UseConnectionHandler<PipeEcho>(), "pipe");
        await host.StartAsync();
        await using var client = new ZlinkContext();
        using StreamSocket socket = client.CreateStream();
        await using StreamPipe pipe = await socket.ConnectPipeAsync(host.Get<StreamSocket>("pipe").LastEndpoint, Guard.Token).Guarded();
        await pipe.Output.WriteAsync("hello"u8.ToArray(), Guard.Token).Guarded();
        ReadResult echo = await pipe.Input.ReadAtLeastAsync(5, Guard.Token).Guarded();
        Assert.Equal("hello"u8.ToArray(), echo.Buffer.ToArray());
        pipe.Input.AdvanceTo(echo.Buffer.End);

        await host.StopAsync();
        Assert.True((await pipe.Input.ReadAsync(Guard.Token).Guarded()).IsCompleted);
        Assert.Equal((1, 1), (host.Get<Made>().Count, host.Get<Made>().Ended));
    }

    [Fact]
    public async Task A_connection_handler_is_told_that_its_peer_has_gone()
    {
        await using var host = new HostFixture();
        host.Services.AddSingleton<Made>();
        host.Services.AddZlinkStream(AnyPort, static stream => stream.UseConnectionHandler<Sleeper>(), "pipe");
        await host.StartAsync();
        await using (var client = new ZlinkContext())
        {
            using StreamSocket socket = client.CreateStream();
            StreamPipe pipe = await socket.ConnectPipeAsync(host.Get<StreamSocket>("pipe").LastEndpoint, Guard.Token).Guarded();
            await Guard.UntilAsync(() => host.Get<Made>().Count == 1, "the handler runs");
            Assert.True(socket.Disconnect(pipe.Id, abort: true));
        }

        await Guard.UntilAsync(() => host.Get<Made>().Ended == 1, "the handler was told");
    }

    [Fact]
    public async Task A_scope_that_fails_to_end_does_not_hold_back_the_end_of_the_host()
    {
        await using var host = new HostFixture();
        host.Services.AddScoped<Faulty>();
        host.Services.Configure<HostOptions>(static options => options.ShutdownTimeout = TimeSpan.FromHours(1));
        host.Services.AddZlinkStream(AnyPort, static stream => stream.UsePipe(static (provider, _, _) =>
        {
            provider.GetRequiredService<Faulty>();
            return Task.CompletedTask;
        }), "pipe");
        await host.StartAsync();
        await using var client = new ZlinkContext();
        using StreamSocket socket = client.CreateStream();
        await using StreamPipe pipe = await socket.ConnectPipeAsync(host.Get<StreamSocket>("pipe").LastEndpoint, Guard.Token).Guarded();
        Assert.True((await pipe.Input.ReadAsync(Guard.Token).Guarded()).IsCompleted);
        await host.StopAsync();
    }

    private static async Task<string> AskAsync(ZlinkContext client, HostFixture host, string key, string text)
    {
        using StreamSocket socket = client.CreateStream();
        uint peer = await socket.ConnectAsync(host.Get<StreamSocket>(key).LastEndpoint, Guard.Token).Guarded();
        await socket.To(peer).SendAsync(System.Text.Encoding.UTF8.GetBytes(text), Guard.Token).Guarded();
        while (true)
        {
            using StreamMessage message = await socket.ReceiveAsync(Guard.Token).Guarded();
            if (message.Kind == StreamMessageKind.Data)
            {
                return System.Text.Encoding.UTF8.GetString(message.Span);
            }
        }
    }

    public sealed class Faulty : IDisposable
    {
        public void Dispose() => throw new InvalidOperationException("It cannot be disposed.");
    }

    public sealed class Made
    {
        private int _count;
        private int _ended;

        public int Count => Volatile.Read(ref _count);

        public int Ended => Volatile.Read(ref _ended);

        public void Begin() => Interlocked.Increment(ref _count);

        public void End() => Interlocked.Increment(ref _ended);
    }

    public sealed class Tracked : IDisposable
    {
        private readonly Made _made;

        public Tracked(Made made)
        {
            _made = made;
            made.Begin();
        }

        public void Dispose() => _made.End();
    }

    public class Shout : StreamHandler
    {
        public Shout(Made made) => made.Begin();

        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames) => ShoutAsync(peer, frames);

        internal static ValueTask ShoutAsync(StreamPeer peer, StreamFrames frames)
        {
            foreach (ReadOnlyMemory<byte> frame in frames)
            {
                peer.TrySend(System.Text.Encoding.UTF8.GetBytes(System.Text.Encoding.UTF8.GetString(frame.Span).ToUpperInvariant()));
            }

            return ValueTask.CompletedTask;
        }
    }

    public sealed class ScopedShout(Tracked tracked) : StreamHandler
    {
        private readonly ConcurrentBag<StreamPeer> _peers = [];

        public override void OnConnected(StreamPeer peer) => _peers.Add(peer);

        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            Assert.NotNull(tracked);
            Assert.Same(peer, Assert.Single(_peers));
            return Shout.ShoutAsync(peer, frames);
        }

        public override void OnDisconnected(StreamPeer peer, DisconnectReason reason) => Assert.Same(peer, Assert.Single(_peers));
    }

    public sealed class PipeEcho(Tracked tracked) : ConnectionHandler
    {
        public override async Task OnConnectedAsync(ConnectionContext connection)
        {
            Assert.NotNull(tracked);
            CancellationToken end = connection.Features.Get<IConnectionLifetimeNotificationFeature>()!.ConnectionClosedRequested;
            try
            {
                while (true)
                {
                    ReadResult read = await connection.Transport.Input.ReadAsync(end);
                    foreach (ReadOnlyMemory<byte> block in read.Buffer)
                    {
                        await connection.Transport.Output.WriteAsync(block, end);
                    }

                    connection.Transport.Input.AdvanceTo(read.Buffer.End);
                }
            }
            catch (OperationCanceledException) when (end.IsCancellationRequested)
            {
            }
        }
    }

    public sealed class Sleeper(Made made) : ConnectionHandler
    {
        public override async Task OnConnectedAsync(ConnectionContext connection)
        {
            var closed = new TaskCompletionSource();
            await using CancellationTokenRegistration told = connection.ConnectionClosed.Register(closed.SetResult);
            made.Begin();
            await closed.Task;
            made.End();
        }
    }
}
