using System.Collections.Concurrent;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>The execution context that handlers are called in.</summary>
public sealed class HandlerContextTests : IDisposable
{
    private static readonly AsyncLocal<string?> Local = new();

    private readonly TestCertificates _certificates = new();

    public void Dispose() => _certificates.Dispose();

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("tls://127.0.0.1:0")]
    [InlineData("ws://127.0.0.1:0")]
    [InlineData("wss://127.0.0.1:0/")]
    public async Task A_handler_sees_nothing_of_who_has_connected_and_who_has_keeps_it(string endpoint)
    {
        const int Rounds = 20;
        await using var fixture = new StreamFixture(shards: 1, furtherShards: 1);
        var seen = new ConcurrentQueue<string?>();
        using StreamSocket server = fixture.Context.CreateStream(Options());
        string bound = server.Bind(endpoint, Noting(seen, TestHandler.EchoAsync));
        using StreamSocket client = fixture.Context.CreateStream(Options());
        int left = Rounds;
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        TestHandler back = Noting(seen, (peer, frames) =>
        {
            if (--left > 0)
            {
                return TestHandler.EchoAsync(peer, frames);
            }

            done.SetResult();
            return ValueTask.CompletedTask;
        });

        Local.Value = "the caller's";
        uint id = await client.ConnectAsync(bound, new StreamConnectOptions { Handler = back }, Guard.Token).Guarded();
        Assert.Equal("the caller's", Local.Value);
        await client.To(id).SendAsync("around"u8.ToArray(), Guard.Token).Guarded();
        await done.Task.Guarded();
        Assert.Equal("the caller's", Local.Value);
        client.Dispose();
        server.Dispose();
        await back.NextDisconnectedAsync();
        Assert.InRange(seen.Count, 2 * Rounds, int.MaxValue);
        Assert.All(seen, Assert.Null);
    }

    [Fact]
    public async Task Execution_context_that_a_handler_sets_is_not_seen_by_later_calls_of_any_peer()
    {
        const int Peers = 5;
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(shards: 1, time);
        var seen = new ConcurrentQueue<string?>();
        TestHandler handler = Noting(seen, static (_, _) =>
        {
            Local.Value = "what OnReceivedAsync has set";
            return ValueTask.CompletedTask;
        });
        using StreamSocket server = fixture.Bind(
            handler, out string endpoint, new StreamOptions { IdleTimeout = TimeSpan.FromSeconds(10) });
        for (int i = 0; i < Peers; i++)
        {
            RawPeer peer = await fixture.ConnectAsync(endpoint);
            await peer.SendFrameAsync(1);
        }

        await fixture.UntilAsync(() => seen.Count == 2 * Peers);

        // All of them end in one work: that of the timers.
        time.Advance(TimeSpan.FromSeconds(20));
        for (int i = 0; i < Peers; i++)
        {
            await handler.NextDisconnectedAsync();
        }

        await fixture.UntilAsync(() => seen.Count == 3 * Peers);
        Assert.All(seen, Assert.Null);
    }

    [Fact]
    public async Task An_incomplete_call_goes_on_in_the_context_that_it_has_made()
    {
        await using var fixture = new StreamFixture();
        var found = new TaskCompletionSource<string?>(TaskCreationOptions.RunContinuationsAsynchronously);
        using StreamSocket server = fixture.Bind(new TestHandler { Received = ReceiveAsync }, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(1);
        Assert.Equal("its own", await found.Task.Guarded());

        async ValueTask ReceiveAsync(StreamPeer from, StreamFrames frames)
        {
            Local.Value = "its own";
            await Task.Yield();
            found.SetResult(Local.Value);
        }
    }

    /// <summary>Each call notes what it finds, and leaves something.</summary>
    private static TestHandler Noting(ConcurrentQueue<string?> seen, Func<StreamPeer, StreamFrames, ValueTask> received) => new()
    {
        Connected = _ =>
        {
            seen.Enqueue(Local.Value);
            Local.Value = "what OnConnected has set";
        },
        Received = (peer, frames) =>
        {
            seen.Enqueue(Local.Value);
            return received(peer, frames);
        },
        Disconnected = (_, _) =>
        {
            seen.Enqueue(Local.Value);
            Local.Value = "what OnDisconnected has set";
        },
    };

    private StreamOptions Options()
    {
        var options = new StreamOptions();
        options.Tls.CertificateFile = _certificates.CertificateFile;
        options.Tls.KeyFile = _certificates.KeyFile;
        options.Tls.CaFile = _certificates.CaFile;
        return options;
    }
}
