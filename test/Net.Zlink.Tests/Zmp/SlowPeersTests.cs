using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Zmp.StalledPeers;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER with sends that wait for peers that do not read.</summary>
public sealed class SlowPeersTests
{
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
        Task behind = router.To(A).SendAsync(Last, Guard.Token).AsTask();
        Assert.False(router.To(A).TrySend("overtakes"u8));
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
        await router.To(A).SendAsync(Last, Guard.Token).AsTask().Guarded();
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
        OnDuplicateRoutingId = handover ? DuplicateRoutingId.Replace : DuplicateRoutingId.Refuse,
        SendHighWaterMark = 1,
        SendBufferSize = 16 * 1024,
        Linger = TimeSpan.Zero,
    });

    private static Task FirstThatWaits(RouterSocket router, byte[] id) =>
        StalledPeers.FirstThatWaits(() => router.To(id).SendAsync(Wire.Huge, Guard.Token));
}
