using Net.Zlink.Interop.Tests.Matrix;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>Connections that are cut, peers that go and come back. Ours connects, then ours is bound.</summary>
public sealed class ReconnectTests
{
    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverEveryRelayedTransport), MemberType = typeof(PeerSides))]
    public async Task Messages_sent_while_the_connection_is_cut_arrive_in_order_after_the_reconnect(
        PeerKind connecterKind, PeerKind binderKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket binder = binderKind.Create(NativeSocketType.Router);
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Dealer);
        endpoint.Equip(binder, connecter);
        await using var relay = new TcpRelay(binder.Bind(endpoint.Text));
        connecter.SetOption(NativeOption.RoutingId, "c");
        connecter.SetOption(NativeOption.ReconnectInterval, 10);
        connecter.Connect(relay.Endpoint);
        for (int round = 0; round < 3; round++)
        {
            connecter.SendText("before");
            Assert.Equal("c|before", binder.ReceiveText());
            relay.Freeze();
            relay.Cut();
            connecter.WaitForEvent(NativeEventTypes.Disconnected);
            binder.WaitForEvent(NativeEventTypes.Disconnected);
            for (int i = 0; i < 100; i++)
            {
                connecter.SendText($"{i}", "cut");
            }

            relay.Thaw();
            for (int i = 0; i < 100; i++)
            {
                Assert.Equal($"c|{i}|cut", binder.ReceiveText());
            }

            binder.SendText("c", "answer");
            Assert.Equal("answer", connecter.ReceiveText());
        }
    }

    // Without a native connecter over ws and wss: one that sends there and is cut in the middle of its load may never connect again. Seen
    // in 6 of 8 runs towards ours,
    // which had seen the reset and had no peer, and in 3 of 8 towards a native receiver, so with none of ours in it.
    [NativeTheory]
    [MemberData(nameof(PeerSides.BothCutUnderLoad), MemberType = typeof(PeerSides))]
    public async Task Cuts_under_load_lose_whole_messages_and_never_repeat_or_tear_one(
        PeerKind connecterKind, PeerKind binderKind, TestTransport transport)
    {
        const int Cuts = 5;
        var betweenEnds = TimeSpan.FromMilliseconds(100);
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket binder = binderKind.Create(NativeSocketType.Dealer);
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Dealer);
        endpoint.Equip(binder, connecter);
        await using var relay = new TcpRelay(binder.Bind(endpoint.Text));
        connecter.SetOption(NativeOption.ReconnectInterval, 10);
        connecter.SetOption(NativeOption.SendHighWaterMark, 100); // the sender runs ahead of the receiver by what fits in memory
        connecter.Connect(relay.Endpoint);
        using var stop = new CancellationTokenSource();
        using var heard = new ManualResetEventSlim();
        Task sending = Limits.OnThread(() =>
        {
            for (int i = 0; !stop.IsCancellationRequested; i++)
            {
                connecter.Send(LoadMessage(i));
            }

            // Again until it is heard: what was written into the connection of the last cut is lost, and that may be an end too.
            do
            {
                connecter.SendText("end");
            }
            while (!heard.Wait(betweenEnds, Limits.Token));
        });
        try
        {
            // No order: what the lost connection brought may still be unread while the next one brings more, and the two are read in turn.
            HashSet<long> seen = [];
            for (int received = 1; received <= 500 * Cuts; received++)
            {
                AssertNew(seen, binder.Receive());
                if (received % 500 == 0)
                {
                    relay.Cut(); // in the middle of the stream
                }
            }

            await stop.CancelAsync();
            for (byte[][] rest = binder.Receive(); rest.Length > 1; rest = binder.Receive())
            {
                AssertNew(seen, rest);
            }
        }
        finally
        {
            await stop.CancelAsync();
            heard.Set();
            await sending.Guarded();
        }

        connecter.WaitForEvent(NativeEventTypes.Disconnected); // or nothing was cut

        static void AssertNew(HashSet<long> seen, byte[][] message)
        {
            long number = TestPayload.NumberOf(message[0]);
            Assert.True(seen.Add(number), $"message {number} came twice");
            TestPayload.AssertEqual(LoadMessage(number), message, $"message {number}");
        }

        // Three parts, of sizes that put the cut anywhere in a frame.
        static byte[][] LoadMessage(long number) => TestPayload.MakeMessage(number, 3, 8 + (int)(number % 3000));
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverEveryRelayedTransport), MemberType = typeof(PeerSides))]
    public async Task A_subscriber_asks_again_after_a_cut(PeerKind subscriberKind, PeerKind publisherKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.Sub);
        endpoint.Equip(publisher, subscriber);
        await using var relay = new TcpRelay(publisher.Bind(endpoint.Text));
        subscriber.SetOption(NativeOption.ReconnectInterval, 10);
        subscriber.Subscribe("a");
        subscriber.Connect(relay.Endpoint);
        Assert.Equal("\u0001a", publisher.ReceiveText());
        relay.Freeze();
        relay.Cut();
        Assert.Equal("\0a", publisher.ReceiveText());
        subscriber.WaitForEvent(NativeEventTypes.Disconnected);
        subscriber.Subscribe("b");
        relay.Thaw();
        byte[][]? notice = null;
        Limits.Until("the subscriptions are made again", slice =>
        {
            // A native subscriber asks again only when it is called into.
            Assert.Null(subscriber.Receive(TimeSpan.Zero));
            return (notice = publisher.Receive(slice)) is not null;
        });
        Assert.Equal("\u0001a"u8, notice![0]);
        Assert.Equal("\u0001b", publisher.ReceiveText());
        publisher.SendText("a", "again");
        publisher.SendText("b", "new");
        Assert.Equal("a|again", subscriber.ReceiveText());
        Assert.Equal("b|new", subscriber.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverEveryTransport), MemberType = typeof(PeerSides))]
    public void A_bound_peer_that_dies_and_comes_back_is_found_again(PeerKind connecterKind, PeerKind binderKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Pair);
        connecter.SetOption(NativeOption.ReconnectInterval, 10);
        string bound = endpoint.Text;
        for (int life = 0; life < 3; life++)
        {
            using IPeerSocket binder = binderKind.Create(NativeSocketType.Pair);
            endpoint.Equip(binder, connecter);
            string again = binder.Bind(bound);
            if (life == 0)
            {
                bound = again;
                connecter.Connect(bound);
            }

            connecter.SendText($"life {life}");
            Assert.Equal($"life {life}", binder.ReceiveText());
            binder.SendText("alive");
            Assert.Equal("alive", connecter.ReceiveText());
            binder.Dispose();
            connecter.WaitForEvent(NativeEventTypes.Disconnected);
        }
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverEveryTransport), MemberType = typeof(PeerSides))]
    public void A_peer_that_connects_before_anybody_listens_is_served(PeerKind connecterKind, PeerKind binderKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Dealer);
        using IPeerSocket binder = binderKind.Create(NativeSocketType.Dealer);
        string bound;
        using (IPeerSocket reserve = PeerKind.Native.Create(NativeSocketType.Pair))
        {
            endpoint.Equip(reserve, connecter);
            bound = reserve.Bind(endpoint.Text); // a port that is free afterwards
        }

        endpoint.Equip(binder, connecter);
        connecter.SetOption(NativeOption.ReconnectInterval, 10);
        connecter.Connect(bound);
        for (int i = 0; i < 100; i++)
        {
            connecter.SendText($"{i}");
        }

        connecter.WaitForEvent(NativeEventTypes.ConnectRetried);
        binder.Bind(bound);
        for (int i = 0; i < 100; i++)
        {
            Assert.Equal($"{i}", binder.ReceiveText());
        }
    }

    // A native closer over tcp and ipc only: over tls, ws and wss the process was seen to end with a segmentation fault while a native
    // socket was closed under load. Where was not traced.
    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverEveryTransportOfOurs), MemberType = typeof(PeerSides))]
    public void Messages_that_a_closed_socket_had_accepted_still_arrive(PeerKind closerKind, PeerKind receiverKind, TestTransport transport)
    {
        const int Sent = 1000;
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket receiver = receiverKind.Create(NativeSocketType.Dealer);
        using (IPeerSocket closer = closerKind.Create(NativeSocketType.Dealer))
        {
            closer.SetOption(NativeOption.Linger, (int)Limits.Wait.TotalMilliseconds);
            endpoint.Connect(receiver, closer);
            for (int i = 0; i < Sent; i++)
            {
                closer.Send(TestPayload.MakeMessage(i, 2, 1000));
            }
        }

        receiver.WaitForEvent(NativeEventTypes.Disconnected);
        int received = 0;
        while (received < Sent && receiver.Receive(Limits.Nothing) is { } message)
        {
            TestPayload.AssertEqual(TestPayload.MakeMessage(received, 2, 1000), message, $"message {received}");
            received++;
        }

        // A native socket that closes under load may lose its last write (1 to 4 messages, seen over ipc in 3 of 100 runs): that is not
        // ours to mend. Ours loses nothing.
        Assert.InRange(received, closerKind is PeerKind.Native ? Sent - 100 : Sent, Sent);
    }
}
