using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Connections over tls, ws and wss that are idle.</summary>
public sealed class SecureIdleTests : IDisposable
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
        await using var fixture = new StreamFixture(furtherShards: 0);
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
            Assert.True(client.To(id).TrySend("hello"u8));
            Assert.Equal("hello"u8.ToArray(), await client.NextDataAsync(id));
        }

        Assert.Equal(Count, server.PeerCount);

        // What is left is the shards': where they read into.
        await fixture.UntilAsync(() => fixture.Pool.GetStatistics().Live <= before + ShardSlabs);
    }

    [Fact]
    public async Task Idle_WebSocket_connections_that_were_made_at_once_hold_no_buffers()
    {
        // The system's reports lag behind the reads now and then, and then a wait ends for nothing: one in a hundred here.
        const int Count = 1_500;
        const int AtOnce = 16;
        await using var fixture = new StreamFixture(furtherShards: 0);
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

    private static StreamSocket Client(StreamFixture fixture)
    {
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.VerifyPeer = false;
        return client;
    }
}
