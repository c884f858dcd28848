using Net.Zlink.Interop.Tests.Matrix;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>Who waits and who drops when a peer does not read.</summary>
public sealed class HighWaterMarkTests
{
    private const int Mark = 10;

    // Fills what the kernel holds of one connection, about 4 MB each way, in some hundred messages.
    private const int Body = 64 * 1024;

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverEachTransport), MemberType = typeof(PeerSides))]
    public void A_dealer_without_a_peer_takes_as_many_messages_as_its_mark_and_delivers_them(
        PeerKind senderKind, PeerKind receiverKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket sender = senderKind.Create(NativeSocketType.Dealer);
        using IPeerSocket receiver = receiverKind.Create(NativeSocketType.Dealer);
        string bound;
        using (IPeerSocket reserve = PeerKind.Native.Create(NativeSocketType.Pair))
        {
            bound = reserve.Bind(endpoint.Text); // a port that is free afterwards
        }

        sender.SetOption(NativeOption.SendHighWaterMark, Mark);
        sender.SetOption(NativeOption.ReconnectInterval, 10);
        sender.Connect(bound);
        for (int i = 0; i < Mark; i++)
        {
            Assert.Equal(PeerSendResult.Sent, sender.TrySendText($"{i}", "of two parts"));
        }

        Assert.Equal(PeerSendResult.WouldBlock, sender.TrySendText("one too many"));
        receiver.Bind(bound);
        for (int i = 0; i < Mark; i++)
        {
            Assert.Equal($"{i}|of two parts", receiver.ReceiveText());
        }

        sender.SendText("room again");
        Assert.Equal("room again", receiver.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public async Task A_sender_stops_at_its_mark_while_nothing_is_read_and_nothing_is_lost(PeerKind senderKind, PeerKind receiverKind)
    {
        using IPeerSocket receiver = receiverKind.Create(NativeSocketType.Pair);
        using IPeerSocket sender = senderKind.Create(NativeSocketType.Pair);
        await using var relay = new TcpRelay(receiver.Bind("tcp://127.0.0.1:0"));
        sender.SetOption(NativeOption.SendHighWaterMark, Mark);
        sender.Connect(relay.Endpoint);
        sender.SendText("connected");
        Assert.Equal("connected", receiver.ReceiveText());
        relay.Freeze();
        int sent = FillUp(sender);
        relay.Thaw();
        for (int i = 0; i < sent; i++)
        {
            TestPayload.AssertEqual([TestPayload.Make(i, Body)], receiver.Receive(), $"message {i} of {sent}");
        }

        sender.SendText("room again");
        Assert.Equal("room again", receiver.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public async Task A_mandatory_router_stops_at_the_mark_of_one_peer_and_still_serves_another(PeerKind routerKind, PeerKind peerKind)
    {
        using IPeerSocket router = routerKind.Create(NativeSocketType.Router);
        using IPeerSocket stuck = peerKind.Create(NativeSocketType.Dealer);
        using IPeerSocket other = peerKind.Create(NativeSocketType.Dealer);
        router.SetOption(NativeOption.RouterMandatory, 1);
        router.SetOption(NativeOption.SendHighWaterMark, Mark);
        string bound = router.Bind("tcp://127.0.0.1:0");
        await using var relay = new TcpRelay(bound);
        stuck.SetOption(NativeOption.RoutingId, "stuck");
        other.SetOption(NativeOption.RoutingId, "other");
        stuck.Connect(relay.Endpoint);
        other.Connect(bound);
        stuck.SendText("hello");
        Assert.Equal("stuck|hello", router.ReceiveText());
        other.SendText("hello");
        Assert.Equal("other|hello", router.ReceiveText());
        relay.Freeze();
        int sent = FillUp(router, "stuck"u8.ToArray());
        router.SendText("other", "served");
        Assert.Equal("served", other.ReceiveText());
        relay.Thaw();
        for (int i = 0; i < sent; i++)
        {
            TestPayload.AssertEqual([TestPayload.Make(i, Body)], stuck.Receive(), $"message {i} of {sent}");
        }
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public async Task A_publisher_drops_whole_messages_for_a_stuck_subscriber_and_none_for_another(
        PeerKind publisherKind, PeerKind subscriberKind)
    {
        const int Published = 500; // 64 MB: several times what mark and kernel hold
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket stuck = subscriberKind.Create(NativeSocketType.Sub);
        using IPeerSocket other = subscriberKind.Create(NativeSocketType.Sub);
        publisher.SetOption(NativeOption.SendHighWaterMark, Mark);
        string bound = publisher.Bind("tcp://127.0.0.1:0");
        await using var relay = new TcpRelay(bound);
        stuck.Subscribe("");
        stuck.Connect(relay.Endpoint);
        Assert.Equal("\u0001", publisher.ReceiveText());
        other.Connect(bound);
        other.Subscribe("");
        other.Subscribe("seen"); // the empty prefix is known already and not reported again
        Assert.Equal("\u0001seen", publisher.ReceiveText());
        relay.Freeze();
        for (int i = 0; i < Published; i++)
        {
            publisher.Send(TestPayload.MakeMessage(i, 2, Body));
            TestPayload.AssertEqual(TestPayload.MakeMessage(i, 2, Body), other.Receive(), $"message {i}");
        }

        relay.Thaw();
        long last = -1;
        int received = 0;
        while (stuck.Receive(Limits.Nothing) is { } message)
        {
            long number = TestPayload.NumberOf(message[0]);
            Assert.True(number > last, $"message {number} came after message {last}");
            TestPayload.AssertEqual(TestPayload.MakeMessage(number, 2, Body), message, $"message {number}");
            last = number;
            received++;
        }

        Assert.InRange(received, 1, Published - 1);
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public async Task A_publisher_that_must_not_drop_stops_instead(PeerKind publisherKind, PeerKind subscriberKind)
    {
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket stuck = subscriberKind.Create(NativeSocketType.Sub);
        publisher.SetOption(NativeOption.SendHighWaterMark, Mark);
        publisher.SetOption(NativeOption.XPubNoDrop, 1);
        await using var relay = new TcpRelay(publisher.Bind("tcp://127.0.0.1:0"));
        stuck.Subscribe("");
        stuck.Connect(relay.Endpoint);
        Assert.Equal("\u0001", publisher.ReceiveText());
        relay.Freeze();
        int sent = FillUp(publisher);
        relay.Thaw();
        for (int i = 0; i < sent; i++)
        {
            TestPayload.AssertEqual([TestPayload.Make(i, Body)], stuck.Receive(), $"message {i} of {sent}");
        }
    }

    // Sends until there is no room for as long as we look for nothing; returns how many were taken.
    private static int FillUp(IPeerSocket sender, params byte[][] prefix)
    {
        const int TooMany = 2000; // 128 MB: far more than mark and kernel can hold
        for (int sent = 0; sent < TooMany; sent++)
        {
            if (sender.Send([.. prefix, TestPayload.Make(sent, Body)], Limits.Nothing) is PeerSendResult.WouldBlock)
            {
                Assert.True(sent >= Mark, $"only {sent} were taken");
                return sent;
            }
        }

        throw new InvalidOperationException($"{TooMany} messages were taken and none was read");
    }
}
