using System.Buffers.Binary;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER with sends that wait for peers that do not read.</summary>
public sealed class SlowPeersTests
{
    private const string Inproc = "inproc://slow";
    private const string Tcp = "tcp://127.0.0.1:0";
    private static readonly byte[] A = "A"u8.ToArray();
    private static readonly byte[] B = "B"u8.ToArray();
    private static readonly byte[] Last = [2];

    [Theory]
    [InlineData(Tcp)]
    [InlineData(Inproc)]
    public async Task A_peer_that_reads_again_lets_its_own_sends_go_and_one_that_leaves_fails_its_own(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, handover: false);
        endpoint = router.Bind(endpoint);
        IDisposable a = await ConnectAsync(fixture, router, endpoint, A);
        IDisposable b = await ConnectAsync(fixture, router, endpoint, B);
        Task toA = FirstThatWaits(router, A);
        Task toB = FirstThatWaits(router, B);
        Task behind = router.SendAsync(A, Last, Guard.Token).AsTask();
        Assert.False(router.TrySend(A, "overtakes"u8));
        byte[] read;
        do
        {
            read = await ReadAsync(a);
        }
        while (!read.AsSpan().SequenceEqual(Last));

        await toA.Guarded();
        await behind.Guarded();
        Assert.False(toB.IsCompleted);
        b.Dispose();
        Assert.Equal(ZlinkError.HostUnreachable, (await Assert.ThrowsAsync<ZlinkException>(() => toB.Guarded())).Error);
        await router.SendAsync(A, Last, Guard.Token).AsTask().Guarded();
    }

    [Theory]
    [InlineData(Tcp)]
    [InlineData(Inproc)]
    public async Task A_send_that_waits_goes_to_whoever_takes_the_routing_id_over(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, handover: true);
        endpoint = router.Bind(endpoint);
        await ConnectAsync(fixture, router, endpoint, A);
        await ConnectAsync(fixture, router, endpoint, B);
        Task toB = FirstThatWaits(router, B);
        Task sending = FirstThatWaits(router, A);
        DealerSocket newcomer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = A });
        newcomer.Connect(endpoint);
        await sending.Guarded();
        Assert.Equal(Wire.Huge, await ReadAsync(newcomer));
        Assert.False(toB.IsCompleted);
        router.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => toB.Guarded());
    }

    private static RouterSocket Router(ContextFixture fixture, bool handover) => fixture.Context.CreateRouter(new RouterOptions
    {
        Mandatory = true,
        Handover = handover,
        SendHighWaterMark = 1,
        SendBufferSize = 16 * 1024,
        Linger = TimeSpan.Zero,
    });

    /// <summary>A peer that reads nothing by itself: over TCP a plain socket, since how much a DEALER with a low mark still takes in is up to the system's timers.</summary>
    private static async Task<IDisposable> ConnectAsync(ContextFixture fixture, RouterSocket router, string endpoint, byte[] id)
    {
        IDisposable peer;
        if (string.Equals(endpoint, Inproc, StringComparison.Ordinal))
        {
            DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = id, ReceiveHighWaterMark = 1 });
            dealer.Connect(endpoint);
            peer = dealer;
        }
        else
        {
            RawPeer raw = await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
            await raw.SendAsync(ZmpFixture.DealerGreeting(id));
            peer = raw;
        }

        await fixture.UntilAsync(() => router.GetPeers().Any(p => p.RoutingId.Span.SequenceEqual(id)));
        return peer;
    }

    /// <summary>The next message of data.</summary>
    private static async Task<byte[]> ReadAsync(IDisposable peer)
    {
        if (peer is DealerSocket dealer)
        {
            using Message message = await dealer.ReceiveAsync(Guard.Token).Guarded();
            return message.Span.ToArray();
        }

        while (true)
        {
            byte[] header = await ((RawPeer)peer).ReadAsync(8);
            byte[] payload = await ((RawPeer)peer).ReadAsync(BinaryPrimitives.ReadInt32BigEndian(header.AsSpan(4)));
            if (header[2] == 0)
            {
                return payload; // The others are HELLO and READY.
            }
        }
    }

    private static Task FirstThatWaits(RouterSocket router, byte[] id)
    {
        while (true)
        {
            Task sending = router.SendAsync(id, Wire.Huge, Guard.Token).AsTask();
            if (!sending.IsCompleted)
            {
                return sending;
            }
        }
    }
}
