using System.Diagnostics;
using System.Net.Sockets;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>The end of a socket, or of an endpoint, and something else at the same moment. Each round is another moment; a fault showed in
/// one of two to a hundred rounds.</summary>
public sealed class ClosingRaceTests
{
    private static readonly byte[] s_greeting = ZmpFixture.DealerGreeting("A"u8);
    private static readonly byte[] s_hi = Convert.FromHexString("5A010000000000026869");

    [Fact]
    public async Task Accepted_messages_arrive_though_the_socket_is_disposed_at_the_end_of_the_handshake()
    {
        int rounds = SlowTests.Rounds(100, all: 300);
        await using var fixture = new ContextFixture(shards: 1);
        using var listener = new RawListener();
        for (int round = 0; round < rounds; round++)
        {
            DealerSocket socket = fixture.Context.CreateDealer();
            socket.Bind("tcp://127.0.0.1:0"); // Takes its time to close.
            socket.Bind("tcp://127.0.0.1:0");
            socket.Connect(listener.Endpoint);
            socket.Send("hi"u8);
            using RawPeer peer = await listener.AcceptAsync();
            await AtOnceAsync(() => Greet(peer), socket.Dispose, round);
            byte[] all = await peer.ReadToEndAsync();
            Assert.True(all.AsSpan().IndexOf(s_hi) >= 0, $"round {round}: {Convert.ToHexString(all)}");
        }
    }

    [Fact]
    public async Task An_endpoint_that_is_disconnected_at_the_end_of_the_handshake_is_gone()
    {
        int rounds = SlowTests.Rounds(100, all: 300);
        await using var fixture = new ContextFixture(shards: 1);
        using var listener = new RawListener();
        for (int round = 0; round < rounds; round++)
        {
            DealerSocket socket = fixture.Context.CreateDealer();
            socket.Connect(listener.Endpoint);
            socket.Send("hi"u8);
            using RawPeer peer = await listener.AcceptAsync();
            await AtOnceAsync(() => Greet(peer), () => socket.Disconnect(listener.Endpoint), round);
            await peer.ReadToEndAsync();
            Assert.Equal(0, socket.PeerCount);
            socket.Dispose();
        }
    }

    [Fact]
    public async Task A_send_that_waits_is_not_lost_to_an_endpoint_that_is_connected_while_the_socket_is_disposed()
    {
        int rounds = SlowTests.Rounds(200, all: 1_000);
        await using var fixture = new ContextFixture(); // Which looks for buffers that did not come back.
        string nobody = RawListener.NobodyListens();
        for (int round = 0; round < rounds; round++)
        {
            DealerSocket socket = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
            Task sending = socket.SendAsync(new byte[] { 1 }, Guard.Token).AsTask();
            await AtOnceAsync(() => _ = Record.Exception(() => socket.Connect(nobody)), socket.Dispose, round);
            Exception? failure = await Record.ExceptionAsync(() => sending.Guarded());
            Assert.True(failure is null or ObjectDisposedException, $"{failure}");
        }
    }

    [Fact]
    public async Task A_name_that_is_bound_while_its_socket_is_disposed_is_free_for_the_next_one()
    {
        int rounds = SlowTests.Rounds(100, all: 500);
        await using var fixture = new ContextFixture();
        for (int round = 0; round < rounds; round++)
        {
            PairSocket first = fixture.Context.CreatePair();
            await AtOnceAsync(() => _ = Record.Exception(() => first.Bind("inproc://name")), first.Dispose, round);
            using PairSocket next = fixture.Context.CreatePair();
            next.Bind("inproc://name");
        }
    }

    [Fact]
    public async Task A_batch_that_has_its_first_message_gets_it_though_the_socket_is_disposed_then()
    {
        await using var fixture = new ContextFixture();
        PairSocket receiver = fixture.Context.CreatePair();
        PairSocket sender = fixture.Context.CreatePair();
        receiver.Bind("inproc://batch");
        sender.Connect("inproc://batch");
        var messages = new Message[4];
        Task<int> receiving = receiver.ReceiveManyAsync(messages, Guard.Token).AsTask();
        sender.Send("x"u8);
        receiver.Dispose();
        Assert.Equal(1, await receiving.Guarded());
        Assert.Equal("x"u8, messages[0].Span);
        messages[0].Dispose();
    }

    [Fact]
    public async Task A_linger_time_is_kept_though_the_peer_ends_as_the_socket_is_disposed()
    {
        const int Rounds = 12;
        byte[] load = [.. Enumerable.Repeat(Convert.FromHexString("5A0100000000000141"), 20_000).SelectMany(static frame => frame)];
        for (int round = 0; round < Rounds; round++)
        {
            await using var fixture = new ContextFixture(shards: 1);
            var listener = new RawListener();
            DealerSocket socket = fixture.Context.CreateDealer(
                new DealerOptions
                {
                    Linger = TimeSpan.FromMilliseconds(100),
                    SendBufferSize = 4096,
                    ReceiveByteLimit = null,
                    ReceiveHighWaterMark = null
                });
            socket.Connect(listener.Endpoint);
            using RawPeer peer = await listener.AcceptAsync();
            listener.Dispose();
            await peer.SendAsync(s_greeting);
            await fixture.UntilAsync(() => socket.GetPeers().Any(static other => other.IsConnected));
            for (int i = 0; i < 8; i++)
            {
                Assert.True(socket.TrySend(new byte[1024 * 1024])); // The peer reads nothing: most of this stays.
            }

            Task closed = socket.Parts.AllClosed;
            await AtOnceAsync(
                () => _ = Record.Exception(() =>
                {
                    peer.Socket.Blocking = true;
                    peer.Socket.Send(load);
                    peer.Socket.Shutdown(SocketShutdown.Send);
                }),
                socket.Dispose,
                10 * round);
            peer.Dispose();
            await closed.Guarded();
        }
    }

    private static void Greet(RawPeer peer)
    {
        peer.Socket.Blocking = true;
        peer.Socket.Send(s_greeting);
    }

    /// <summary>Does both, the second some microseconds later, by the round.</summary>
    private static async Task AtOnceAsync(Action one, Action other, int round)
    {
        using var both = new Barrier(2);
        Task first = Task.Factory.StartNew(
            () =>
            {
                both.SignalAndWait(Guard.Limit, Guard.Token);
                one();
            },
            Guard.Token,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        both.SignalAndWait(Guard.Limit, Guard.Token);
        long start = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(start).TotalMicroseconds < round % 150)
        {
            Thread.SpinWait(1);
        }

        other();
        await first.Guarded();
    }
}
