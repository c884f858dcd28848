using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>The snippets of docs/PortingGuide.md, compiled and run. The guide's text must be found here word for word:
/// PortingGuideTests.</summary>
public sealed class PortingSnippets
{
    [Fact]
    public async Task Sockets_and_options()
    {
        await using var context = new ZlinkContext();
        using RouterSocket router = context.CreateRouter();
        string endpoint = router.Bind("tcp://127.0.0.1:*");
        using DealerSocket dealer = context.CreateDealer();
        dealer.Options.SendHighWaterMark = 1000;
        dealer.Options.Linger = TimeSpan.FromSeconds(1);
        dealer.Connect(endpoint);
        Assert.Equal(endpoint, router.LastEndpoint);

        NativeOptions.Set(dealer, 23, 1000); // ZLINK_SNDHWM
        int mark = NativeOptions.GetInt32(dealer, 23);
        Assert.Equal(1000, mark);
    }

    [Fact]
    public async Task Parts_and_routing_ids()
    {
        CancellationToken cancellation = Guard.Token;
        await using var context = new ZlinkContext();
        using RouterSocket router = context.CreateRouter();
        using DealerSocket dealer = context.CreateDealer();
        dealer.Connect(router.Bind("tcp://127.0.0.1:*"));

        using var parts = new MessageBuilder();
        parts.Add("header"u8).Add("body"u8);
        dealer.Send(parts);

        using Message request = router.Receive();
        router.Send(request.RoutingId.Span, "reply"u8);
        Assert.Equal(2, request.PartCount);

        var text = new StringBuilder();
        for (int i = 0; i < request.PartCount; i++)
        {
            text.Append(Encoding.UTF8.GetString(request[i].Span));
        }

        Assert.Equal("headerbody", text.ToString());

        using Message reply = await dealer.ReceiveAsync(cancellation);
        byte[] copy = reply.Span.ToArray();
        Assert.Equal("reply"u8.ToArray(), copy);
    }

    [Fact]
    public async Task Waiting_and_errors()
    {
        await using var context = new ZlinkContext();
        using DealerSocket dealer = context.CreateDealer();
        int missed = 0;

        if (!dealer.TrySend("payload"u8))
        {
            missed++; // EAGAIN
        }

        try
        {
            using Message late = dealer.Receive(TimeSpan.FromMilliseconds(10));
        }
        catch (TimeoutException)
        {
            missed++;
        }

        Assert.Equal(2, missed);
    }

    [Fact]
    public async Task Topics()
    {
        CancellationToken cancellation = Guard.Token;
        await using var context = new ZlinkContext();
        using PubSocket pub = context.CreatePub();
        using SubSocket sub = context.CreateSub();

        sub.Subscribe("news.");
        sub.Connect(pub.Bind("tcp://127.0.0.1:*"));

        while (pub.TopicCount == 0)
        {
            await Task.Yield();
        }

        pub.Send("news.today"u8);
        await foreach (Message updates in sub.ReceiveAllAsync(cancellation))
        {
            using (updates)
            {
                Assert.Equal("news.today"u8.ToArray(), updates.Span.ToArray());
                break;
            }
        }
    }

    [Fact]
    public async Task Events_and_peers()
    {
        CancellationToken cancellation = Guard.Token;
        await using var context = new ZlinkContext();
        using RouterSocket router = context.CreateRouter();

        using SocketMonitor monitor = router.OpenMonitor(SocketEventTypes.AllNative);
        router.Bind("tcp://127.0.0.1:*");
        SocketEvent first = await monitor.ReadAsync(cancellation);
        Assert.Equal(SocketEventTypes.Listening, first.Type);

        using IDisposable calls = router.OnEvent(SocketEventTypes.Disconnected, lost => Console.WriteLine(lost.RemoteAddress));

        foreach (PeerInfo peer in router.GetPeers())
        {
            Console.WriteLine($"{peer.RemoteAddress}: {peer.MessagesSent} sent, {peer.MessagesReceived} received");
        }

        Assert.Equal(0, router.PeerCount);
    }

    [Fact]
    public async Task Polling()
    {
        await using var context = new ZlinkContext();
        using PairSocket one = context.CreatePair();
        using PairSocket two = context.CreatePair();
        using PairSocket peer = context.CreatePair();
        one.Bind("inproc://one");
        peer.Connect("inproc://one");
        peer.Send("x"u8);

        using var poller = new Poller();
        poller.Add(one, PollEvents.In);
        poller.Add(two, PollEvents.In);
        var ready = new PollResult[2];
        int count = poller.Poll(ready, TimeSpan.FromSeconds(10));
        for (int i = 0; i < count; i++)
        {
            using Message message = ((PairSocket)ready[i].Socket).Receive();
        }

        Assert.Equal(1, count);
    }

    [Fact]
    public async Task The_end()
    {
        CancellationToken cancellation = Guard.Token;
        var context = new ZlinkContext();
        using DealerSocket dealer = context.CreateDealer();

        ShutdownReport report = await context.ShutdownAsync(TimeSpan.FromSeconds(5), cancellation);
        Assert.True(report.Drained);
        await context.DisposeAsync();
    }
}
