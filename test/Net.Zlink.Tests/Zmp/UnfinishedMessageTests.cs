using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Peers begin messages and do not end them.</summary>
public sealed class UnfinishedMessageTests
{
    private const int KiB = 1024;
    private const int Limit = 1024 * KiB;
    private const byte More = 1;

    private static readonly byte[] s_id = "D"u8.ToArray();

    [Fact]
    public void UnfinishedByteLimit_is_a_quarter_of_the_memory_unless_it_is_set()
    {
        Assert.Equal(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4, new ZlinkContextOptions().UnfinishedByteLimit);
        Assert.Null(new ZlinkContextOptions { UnfinishedByteLimit = null }.UnfinishedByteLimit);
        Assert.Throws<ArgumentOutOfRangeException>(new ZlinkContextOptions { UnfinishedByteLimit = 0 }.Validate);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(10_000)]
    [InlineData(100_000)]
    public async Task A_message_without_end_ends_its_connection_at_the_limit_and_nobody_elses(int partSize)
    {
        await using var fixture = new ContextFixture(unfinishedByteLimit: Limit);
        DealerSocket socket = fixture.Context.CreateDealer(new DealerOptions { RoutingId = s_id });
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        string endpoint = socket.Bind("tcp://127.0.0.1:0");
        RawPeer honest = await GreetAsync(fixture, endpoint);
        await honest.SendAsync(ZmpFixture.Frame(More, new byte[200 * KiB]));
        RawPeer endless = await GreetAsync(fixture, endpoint);
        Task sending = SendWithoutEndAsync(endless, ZmpFixture.Frame(More, new byte[partSize]));

        SocketEvent told = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(4, told.ToNativeValue());
        Assert.Contains("UnfinishedByteLimit", told.Detail, StringComparison.Ordinal);
        // Nothing behind it: after an ERROR a native peer would not come again.
        Assert.Equal(ZmpFixture.Greeting((byte)ZmpSocketType.Dealer, s_id), await endless.ReadToEndAsync());
        endless.Dispose();
        await sending;
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().UnfinishedBytes is > 200 * KiB and < 300 * KiB);
        await honest.SendAsync(ZmpFixture.Frame(0, "the end"u8));
        using Message whole = await socket.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(2, whole.PartCount);
        Assert.Equal(0, fixture.Context.GetStatistics().UnfinishedBytes);
    }

    [Fact]
    public async Task A_frame_that_takes_more_than_the_limit_ends_its_connection_too_and_one_that_takes_all_of_it_does_not()
    {
        await using var fixture = new ContextFixture(unfinishedByteLimit: Limit);
        DealerSocket socket = fixture.Context.CreateDealer();
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        string endpoint = socket.Bind("tcp://127.0.0.1:0");
        RawPeer fits = await GreetAsync(fixture, endpoint);
        await fits.SendAsync(ZmpFixture.Frame(0, new byte[Limit / 2]));
        using Message whole = await socket.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(Limit / 2, whole.ByteCount);
        RawPeer large = await GreetAsync(fixture, endpoint);
        Task sending = SendWithoutEndAsync(large, ZmpFixture.Frame(0, new byte[4 * Limit]));
        Assert.Contains("UnfinishedByteLimit", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
        large.Dispose();
        await sending;
    }

    [Fact]
    public async Task A_connecter_comes_again()
    {
        await using var fixture = new ContextFixture(unfinishedByteLimit: Limit);
        await using var sender = new ContextFixture();
        DealerSocket receiver = fixture.Context.CreateDealer();
        DealerSocket dealer = sender.Context.CreateDealer(
            new DealerOptions { ReconnectInterval = TimeSpan.FromMilliseconds(10), Linger = TimeSpan.Zero });
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.ConnectionReady);
        dealer.Connect(receiver.Bind("tcp://127.0.0.1:0"));
        Assert.Equal(SocketEventTypes.ConnectionReady, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        await dealer.SendAsync(new byte[8 * Limit], Guard.Token);
        SocketEvent lost = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(SocketEventTypes.Disconnected, lost.Type);
        Assert.Equal(SocketEventTypes.ConnectionReady, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        await dealer.SendAsync("short"u8.ToArray(), Guard.Token);
        using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("short"u8, message.Span);
    }

    private static async Task<RawPeer> GreetAsync(ContextFixture fixture, string endpoint)
    {
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(ZmpFixture.DealerGreeting([]));
        return peer;
    }

    /// <summary>Sends until the other end has gone.</summary>
    private static async Task SendWithoutEndAsync(RawPeer peer, byte[] frame)
    {
        byte[] many = [.. Enumerable.Repeat(frame, Math.Max(1, 64 * KiB / frame.Length)).SelectMany(static bytes => bytes)];
        try
        {
            while (true)
            {
                await peer.SendAsync(many);
            }
        }
        catch (Exception e) when (e is System.Net.Sockets.SocketException or ObjectDisposedException)
        {
            // So it has.
        }
    }
}
