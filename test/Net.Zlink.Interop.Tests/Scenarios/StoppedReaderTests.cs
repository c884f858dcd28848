using Net.Zlink.Interop.Tests.Matrix;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>Ours does not read for a while. The native core reads on at its mark, and at 10 MiB it drops the connection with all that was
/// unread: here nothing is lost.</summary>
public sealed class StoppedReaderTests
{
    private const int Mark = 10;

    // More than three times what the native core bears: 512 messages that are sent on their own, and 200,000 that travel in batches.
    [Theory]
    [MemberData(nameof(PeerSides.OfOursOverEachTransport), 64 * 1024, 512, MemberType = typeof(PeerSides))]
    [MemberData(nameof(PeerSides.OfOursOverEachTransport), 160, 200_000, MemberType = typeof(PeerSides))]
    public void Thirty_two_megabytes_wait_at_the_sender_and_arrive_whole_and_in_order(
        PeerKind senderKind, TestTransport transport, int size, int count)
    {
        using var endpoint = new TestEndpoint(transport);
        using var receiver = new ManagedPeer(NativeSocketType.Dealer);
        using IPeerSocket sender = senderKind.Create(NativeSocketType.Dealer);
        receiver.SetOption(NativeOption.ReceiveHighWaterMark, Mark);
        sender.Connect(receiver.Bind(endpoint.Text));
        WaitUntilReady(receiver, sender);
        for (int i = 0; i < count; i++)
        {
            sender.Send(TestPayload.Make(i, size));
        }

        Assert.Null(receiver.NextEvent(Limits.Nothing));
        Assert.Null(sender.NextEvent(TimeSpan.Zero));

        // One read of 64 KiB may pass the mark, no more.
        Assert.InRange(receiver.Socket.GetStatistics().UnreadMessages, 1, Mark + (64 * 1024 / size) + 1);
        for (int i = 0; i < count; i++)
        {
            TestPayload.AssertEqual([TestPayload.Make(i, size)], receiver.Receive(), $"message {i} of {count}");
        }

        AssertStillConnected(receiver, sender);
    }

    [Theory]
    [MemberData(nameof(PeerSides.OfOursOverEachTransport), MemberType = typeof(PeerSides))]
    public void A_sender_with_a_mark_of_its_own_stops_and_goes_on_when_the_reader_does(PeerKind senderKind, TestTransport transport)
    {
        const int Body = 64 * 1024;
        const int TooMany = 2000; // 128 MB: far more than both marks and the kernel can hold
        using var endpoint = new TestEndpoint(transport);
        using var receiver = new ManagedPeer(NativeSocketType.Pair);
        using IPeerSocket sender = senderKind.Create(NativeSocketType.Pair);
        receiver.SetOption(NativeOption.ReceiveHighWaterMark, Mark);
        sender.SetOption(NativeOption.SendHighWaterMark, Mark);
        sender.Connect(receiver.Bind(endpoint.Text));
        WaitUntilReady(receiver, sender);
        int sent = 0;
        int received = 0;
        for (int round = 0; round < 5; round++)
        {
            while (sender.Send([TestPayload.Make(sent, Body)], Limits.Nothing) is PeerSendResult.Sent)
            {
                sent++;
                Assert.True(sent - received < TooMany, $"{TooMany} messages were taken and none was read");
            }

            while (received < sent)
            {
                TestPayload.AssertEqual([TestPayload.Make(received, Body)], receiver.Receive(), $"message {received} of {sent}");
                received++;
            }
        }

        AssertStillConnected(receiver, sender);
    }

    [Theory]
    [MemberData(nameof(PeerSides.OfOurs), MemberType = typeof(PeerSides))]
    public void A_reader_that_stops_for_ten_times_its_heartbeat_timeout_keeps_its_connection(PeerKind senderKind)
    {
        using var receiver = new ManagedPeer(NativeSocketType.Dealer);
        using IPeerSocket sender = senderKind.Create(NativeSocketType.Dealer);
        foreach (IPeerSocket end in new[] { receiver, sender })
        {
            // Five heartbeats to a timeout, and half a second for the busiest machine to send one.
            end.SetOption(NativeOption.HeartbeatInterval, 100);
            end.SetOption(NativeOption.HeartbeatTimeout, 500);
            end.SetOption(NativeOption.HeartbeatTtl, 500);
        }

        receiver.SetOption(NativeOption.ReceiveHighWaterMark, Mark);
        sender.Connect(receiver.Bind("tcp://127.0.0.1:0"));
        WaitUntilReady(receiver, sender);
        AssertNothingIsLostWhileTheReaderStops(receiver, sender, TimeSpan.FromSeconds(5));
    }

    // Messages enough to stop the reader, and few enough to leave the kernel room: the sender's heartbeats are gone, as far as it knows,
    // and want an answer. The reader knows of them by having some itself, though its first is as far away as the sender's.
    [Theory]
    [MemberData(nameof(PeerSides.OfOurs), MemberType = typeof(PeerSides))]
    public void A_reader_that_is_stopped_before_the_first_heartbeat_keeps_its_connection(PeerKind senderKind)
    {
        using var receiver = new ManagedPeer(NativeSocketType.Dealer);
        using IPeerSocket sender = senderKind.Create(NativeSocketType.Dealer);
        sender.SetOption(NativeOption.HeartbeatInterval, 500);
        sender.SetOption(NativeOption.HeartbeatTimeout, 2000);
        receiver.SetOption(NativeOption.HeartbeatInterval, 60_000);
        receiver.SetOption(NativeOption.ReceiveHighWaterMark, Mark);
        sender.Connect(receiver.Bind("tcp://127.0.0.1:0"));
        WaitUntilReady(receiver, sender);
        // heartbeat and timeout are over after half of it
        AssertNothingIsLostWhileTheReaderStops(receiver, sender, TimeSpan.FromSeconds(5));
    }

    private static void AssertNothingIsLostWhileTheReaderStops(ManagedPeer receiver, IPeerSocket sender, TimeSpan pause)
    {
        const int Sent = 5000; // 500 KB: more than the mark and one read
        for (int i = 0; i < Sent; i++)
        {
            sender.Send(TestPayload.Make(i, 100));
        }

        Assert.Null(sender.NextEvent(pause));
        Assert.Null(receiver.NextEvent(TimeSpan.Zero));
        for (int i = 0; i < Sent; i++)
        {
            TestPayload.AssertEqual([TestPayload.Make(i, 100)], receiver.Receive(), $"message {i} of {Sent}");
        }

        AssertStillConnected(receiver, sender);
    }

    private static void WaitUntilReady(IPeerSocket receiver, IPeerSocket sender)
    {
        receiver.WaitForEvent(NativeEventTypes.ConnectionReady);
        sender.WaitForEvent(NativeEventTypes.ConnectionReady);
    }

    private static void AssertStillConnected(IPeerSocket receiver, IPeerSocket sender)
    {
        receiver.SendText("read all");
        Assert.Equal("read all", sender.ReceiveText());
        Assert.Null(receiver.NextEvent(TimeSpan.Zero));
        Assert.Null(sender.NextEvent(TimeSpan.Zero));
    }
}
