using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Connections over tls, ws and wss that are idle, and that are disposed at work.</summary>
public sealed class SecureLifeTests : IDisposable
{
    // The slabs that two shards read into: one each, and one between.
    private const int ShardSlabs = 3;

    private readonly TestCertificates _certificates = new();

    public void Dispose() => _certificates.Dispose();

    [Theory]
    [InlineData("tls")]
    [InlineData("ws")]
    [InlineData("wss")]
    public async Task Idle_connections_hold_no_buffer_of_the_pool(string scheme)
    {
        const int Count = 100;
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _certificates.Server;
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0", TestHandler.Echo());
        StreamSocket client = Client(fixture);
        long before = fixture.Pool.GetStatistics().Live;
        for (int i = 0; i < Count; i++)
        {
            uint id = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
            await client.NextConnectedAsync();

            // Each has worked before it is idle.
            Assert.True(client.TrySend(id, "hello"u8));
            Assert.Equal("hello"u8.ToArray(), await client.NextDataAsync(id));
        }

        Assert.Equal(Count, server.PeerCount);

        // What is left is the shards': where they read into.
        await fixture.UntilAsync(() => fixture.Pool.GetStatistics().Live <= before + ShardSlabs);
    }

    [Fact]
    public async Task Nor_do_many_that_were_made_at_once()
    {
        // The system's reports lag behind the reads now and then, and then a wait ends for nothing: one in a hundred here.
        const int Count = 1_500;
        const int AtOnce = 16;
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        string endpoint = server.Bind("ws://127.0.0.1:0", new TestHandler { TakesNotes = false });
        StreamSocket client = fixture.Context.CreateStream();
        var handler = new TestHandler { TakesNotes = false };
        await Parallel.ForAsync(
            0,
            Count,
            new ParallelOptions { MaxDegreeOfParallelism = AtOnce, CancellationToken = Guard.Token },
            async (_, cancellation) => await client.ConnectAsync(endpoint, new StreamConnectOptions { Handler = handler }, cancellation));
        await fixture.UntilAsync(() => server.PeerCount == Count && fixture.Pool.GetStatistics().Live <= ShardSlabs);
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("ws")]
    [InlineData("wss")]
    public async Task Two_hundred_times_disposed_at_work_nothing_hangs_and_every_buffer_comes_back(string scheme)
    {
        const int Rounds = 200;
        for (int round = 0; round < Rounds; round++)
        {
            using var pool = new BufferPool(new BufferPoolOptions
            {
                ClassPolicies = BufferPoolOptions.PerClass(static _ => new BufferClassPolicy(0, 64, Timeout.InfiniteTimeSpan)), // Nothing is warmed 200 times.
                LeakCheck = true,
            });
            var context = new ZlinkContext(new ZlinkContextOptions { ShardCount = 2, Pool = pool });
            StreamSocket server = context.CreateStream();
            server.Options.Tls.Certificate = _certificates.Server;
            server.Options.Linger = TimeSpan.Zero;
            string endpoint = server.Bind($"{scheme}://127.0.0.1:0", new TestHandler { TakesNotes = false, Received = Answer });
            StreamSocket client = context.CreateStream();
            client.Options.Tls.VerifyPeer = false;
            client.Options.Linger = TimeSpan.Zero;
            uint[] ids = [await client.ConnectAsync(endpoint, Guard.Token).Guarded(), await client.ConnectAsync(endpoint, Guard.Token).Guarded()];
            Task working = Task.Run(() => WorkAsync(client, ids), Guard.Token);
            Task connecting = Task.Run(() => ConnectAsync(client, endpoint), Guard.Token);
            while (server.GetStatistics().ReceivedMessages < round * 3)
            {
                await Task.Yield();
            }

            switch (round % 4)
            {
                case 0:
                    client.Dispose();
                    break;
                case 1:
                    server.Dispose();
                    break;
                case 2:
                    server.Unbind(endpoint);
                    break;
                default:
                    break;
            }

            await context.ShutdownAsync(round % 3 == 0 ? TimeSpan.Zero : Guard.Limit, Guard.Token).Guarded();
            await working.Guarded();
            await connecting.Guarded();
            await AssertAllBackAsync(pool);
        }
    }

    private static ValueTask Answer(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            peer.TrySend(payload.Span);
        }

        return ValueTask.CompletedTask;
    }

    private static async Task WorkAsync(StreamSocket client, uint[] ids)
    {
        byte[] payload = new byte[3_000];
        try
        {
            while (true)
            {
                bool sent = false;
                foreach (uint id in ids)
                {
                    sent |= client.TrySend(id, payload);
                }

                while (client.TryReceive(out StreamMessage message))
                {
                    message.Dispose();
                }

                if (!sent && client.PeerCount == 0)
                {
                    return;
                }

                await Task.Yield();
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            // The end that this test is about.
        }
    }

    private static async Task ConnectAsync(StreamSocket client, string endpoint)
    {
        try
        {
            while (true)
            {
                client.Disconnect(await client.ConnectAsync(endpoint, Guard.Token));
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException or OperationCanceledException)
        {
            // As above.
        }
    }

    private static async Task AssertAllBackAsync(BufferPool pool)
    {
        long started = TimeProvider.System.GetTimestamp();
        while (pool.GetOutstanding().Count > 0 && TimeProvider.System.GetElapsedTime(started) < TimeSpan.FromSeconds(5))
        {
            await Task.Yield();
        }

        IReadOnlyList<BufferLeak> leaks = pool.GetOutstanding();
        Assert.True(leaks.Count == 0, leaks.Count == 0 ? "" : $"{leaks.Count} buffers did not come back, the first of {leaks[0].Length} bytes, rented by {leaks[0].RentedBy}");
    }

    private static StreamSocket Client(StreamFixture fixture)
    {
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.VerifyPeer = false;
        return client;
    }
}
