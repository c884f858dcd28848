using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Polling;

/// <summary>STREAM sockets among the items of a poller.</summary>
public sealed class PollerStreamTests : PollerTestBase
{
    [Fact]
    public async Task A_connect_a_message_and_a_disconnect_are_each_reported_until_they_are_taken()
    {
        StreamSocket socket = Fixture.Bind(out string endpoint);
        Poller.Add(socket, PollEvents.In, userState: "mine");
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));

        RawPeer peer = await Fixture.ConnectAsync(endpoint);
        AssertReady();
        Assert.True(socket.TryReceive(out StreamMessage connected));
        Assert.Equal(StreamMessageKind.Connected, connected.Kind);
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));

        await peer.SendFrameAsync(7);
        AssertReady();
        Assert.True(socket.TryReceive(out StreamMessage message));
        Assert.Equal([7], message.Span.ToArray());
        message.Dispose();
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));

        peer.EndSending();
        AssertReady();
        Assert.True(socket.TryReceive(out StreamMessage disconnected));
        Assert.Equal((StreamMessageKind.Disconnected, connected.PeerId), (disconnected.Kind, disconnected.PeerId));
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));

        void AssertReady()
        {
            for (int poll = 0; poll < 3; poll++)
            {
                Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
                Assert.Equal((socket, PollEvents.In, "mine"), (Results[0].Socket, Results[0].Events, Results[0].UserState));
            }
        }
    }

    [Fact]
    public async Task A_disconnect_behind_an_unread_message_is_found_by_the_poll_after_it()
    {
        StreamSocket socket = Fixture.Bind(out string endpoint);
        Poller.Add(socket, PollEvents.In);
        RawPeer peer = await Fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        await peer.SendFrameAsync(1);
        peer.EndSending();
        List<StreamMessageKind> kinds = [];
        while (kinds.Count < 2)
        {
            Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
            Assert.True(socket.TryReceive(out StreamMessage message));
            kinds.Add(message.Kind);
            message.Dispose();
        }

        Assert.Equal([StreamMessageKind.Data, StreamMessageKind.Disconnected], kinds);
    }

    [Fact]
    public async Task Messages_that_go_with_their_peer_leave_only_its_end_to_poll_for()
    {
        StreamSocket socket = Fixture.Bind(out string endpoint);
        RawPeer peer = await Fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        Poller.Add(socket, PollEvents.In);
        await peer.SendFrameAsync(1);
        Assert.Equal(1, Poller.Poll(Results, Guard.Limit));

        Assert.True(socket.Disconnect(id));

        Assert.Equal(1, Poller.Poll(Results, TimeSpan.Zero));
        Assert.Equal(id, (await socket.NextDisconnectedAsync()).PeerId);
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
    }

    [Fact]
    public async Task A_socket_is_always_ready_for_a_send_with_and_without_peers_and_also_where_one_is_full()
    {
        const int SmallKernelBuffer = 16 * 1024;
        StreamSocket socket = Fixture.Bind(out string endpoint,
            new StreamOptions { SendHighWaterMark = 1, SendBufferSize = SmallKernelBuffer });
        Poller.Add(socket, PollEvents.In | PollEvents.Out);
        Assert.Equal(1, Poller.Poll(Results, TimeSpan.Zero));
        Assert.Equal(PollEvents.Out, Results[0].Events);

        await Fixture.ConnectAsync(endpoint, SmallKernelBuffer);
        uint id = await socket.NextConnectedAsync();
        socket.Fill(id);
        Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
        Assert.Equal(PollEvents.Out, Results[0].Events);
        Assert.False(socket.To(id).TrySend([1]).Tell(out SendFailure error));
        Assert.Equal(SendFailure.Full, error);
    }

    [Fact]
    public async Task Both_events_are_reported_in_one_result()
    {
        StreamSocket socket = Fixture.Bind(out string endpoint);
        Poller.Add(socket, PollEvents.In);
        await Fixture.ConnectAsync(endpoint);
        Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
        Poller.Modify(socket, PollEvents.In | PollEvents.Out);
        Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
        Assert.Equal(PollEvents.In | PollEvents.Out, Results[0].Events);
    }

    [Fact]
    public async Task A_poll_ends_for_pulled_messages_and_not_for_those_of_a_handler_of_the_same_socket()
    {
        TestHandler handler = TestHandler.Echo();
        StreamSocket socket = Fixture.Bind(handler, out string pushed);
        Poller.Add(socket, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        RawPeer peer = await Fixture.ConnectAsync(pushed);
        await peer.SendFrameAsync(1);
        byte[]? echo = await peer.ReadFrameAsync();
        Assert.Equal([1], echo!);
        Assert.False(poll.IsCompleted);
        Assert.False(socket.TryReceive(out _));

        await Fixture.ConnectAsync(socket.Bind("tcp://127.0.0.1:0"));

        Assert.Equal(1, await poll.Guarded());
        await socket.NextConnectedAsync();
    }

    [Fact]
    public async Task A_poll_waits_for_STREAM_and_message_sockets_together()
    {
        StreamSocket stream = Fixture.Bind(out string endpoint);
        StreamSocket quiet = Fixture.Bind(out _);
        (DealerSocket sender, DealerSocket dealer) = Context.CreateConnectedDealers();
        Poller.Add(quiet, PollEvents.In);
        Poller.Add(dealer, PollEvents.In);
        Poller.Add(stream, PollEvents.In);

        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        Assert.False(poll.IsCompleted);
        await Fixture.ConnectAsync(endpoint);
        Assert.Equal(1, await poll.Guarded());
        Assert.Equal(stream, Results[0].Socket);
        await stream.NextConnectedAsync();

        Task<int> blocked = Task.Factory.StartNew(
            () => Poller.Poll(Results, Guard.Limit), Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        sender.Send("x"u8);
        Assert.Equal(1, await blocked.Guarded());
        Assert.Equal(dealer, Results[0].Socket);
    }

    [Fact]
    public async Task Two_pollers_and_two_waits_of_one_are_all_told()
    {
        StreamSocket socket = Fixture.Bind(out string endpoint);
        using var other = new SocketPoller();
        Poller.Add(socket, PollEvents.In);
        other.Add(socket, PollEvents.In);
        Task<int>[] polls =
        [
            Poller.PollAsync(Results, Guard.Token).AsTask(),
            other.PollAsync(new PollResult[1], Guard.Token).AsTask(),
            Task.Factory.StartNew(() => Poller.Poll(new PollResult[1], Guard.Limit), Guard.Token, TaskCreationOptions.LongRunning,
                TaskScheduler.Default),
        ];

        await Fixture.ConnectAsync(endpoint);

        int[] found = await Task.WhenAll(polls).Guarded();
        Assert.Equal([1, 1, 1], found);
    }

    [Fact]
    public async Task An_item_with_no_events_never_fires_until_it_is_asked_for_some()
    {
        StreamSocket socket = Fixture.Bind(out string endpoint);
        Poller.Add(socket, PollEvents.None);
        await Fixture.ConnectAsync(endpoint);
        await Fixture.UntilAsync(() => socket.PeerCount == 1);
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        Assert.False(poll.IsCompleted);

        Poller.Modify(socket, PollEvents.In);

        Assert.Equal(1, await poll.Guarded());
    }

    [Fact]
    public async Task A_socket_added_while_a_poll_waits_takes_part_in_it_and_a_removed_one_does_not()
    {
        StreamSocket removed = Fixture.Bind(out string endpointOfRemoved);
        StreamSocket added = Fixture.Bind(out string endpointOfAdded);
        Poller.Add(removed, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        Assert.True(Poller.Remove(removed));
        Assert.False(Poller.Remove(removed));
        await Fixture.ConnectAsync(endpointOfRemoved);
        await removed.NextConnectedAsync();
        Assert.False(poll.IsCompleted);

        Poller.Add(added, PollEvents.In);
        await Fixture.ConnectAsync(endpointOfAdded);

        Assert.Equal(1, await poll.Guarded());
        Assert.Same(added, Results[0].Socket);
        Assert.Equal(1, Poller.Count);
    }

    [Fact]
    public async Task STREAM_sockets_that_did_not_fit_in_the_results_come_first_at_the_next_poll()
    {
        List<StreamSocket?> sockets = [];
        for (int i = 0; i < 5; i++)
        {
            StreamSocket socket = Fixture.Bind(out string endpoint);
            await Fixture.ConnectAsync(endpoint);
            await Fixture.UntilAsync(() => socket.Hub.Receive.IsReadable);
            Poller.Add(socket, PollEvents.In);
            sockets.Add(socket);
        }

        List<ZlinkSocket?> seen = [];
        for (int i = 0; i < 5; i++)
        {
            Assert.Equal(2, Poller.Poll(Results.AsSpan(0, 2), TimeSpan.Zero));
            seen.Add(Results[0].Socket);
            seen.Add(Results[1].Socket);
        }

        Assert.Equal([.. sockets, .. sockets], seen);
    }

    [Fact]
    public async Task Polling_allocates_nothing_whether_something_is_ready_or_not()
    {
        StreamSocket socket = Fixture.Bind(out string endpoint);
        Poller.Add(socket, PollEvents.In | PollEvents.Out);
        await Fixture.ConnectAsync(endpoint);
        await Fixture.UntilAsync(() => socket.Hub.Receive.IsReadable);
        Assert.Equal([0, 0, 0], AllocationsOfPolls(() =>
        {
            Assert.True(socket.TryReceive(out _));
            Poller.Modify(socket, PollEvents.In);
        }));
    }

    [Fact]
    public void A_poll_that_finds_nothing_waits_out_its_time()
    {
        StreamSocket socket = Fixture.Bind(out _);
        Poller.Add(socket, PollEvents.In);
        TimeSpan time = TimeSpan.FromMilliseconds(5);
        long started = TimeProvider.System.GetTimestamp();
        Assert.Equal(0, Poller.Poll(Results, time));
        Assert.InRange(TimeProvider.System.GetElapsedTime(started), time, Guard.Limit);
    }

    [Fact]
    public void A_socket_is_there_once()
    {
        StreamSocket socket = Fixture.Bind(out _);
        Poller.Add(socket, PollEvents.In);
        Assert.Contains("use Modify", Assert.Throws<ArgumentException>(() => Poller.Add(socket, PollEvents.Out)).Message,
            StringComparison.Ordinal);
        Assert.Contains("use Add", Assert.Throws<ArgumentException>(() => Poller.Modify(Fixture.Bind(out _), PollEvents.Out)).Message,
            StringComparison.Ordinal);
        Assert.Throws<ArgumentNullException>(() => Poller.Add((StreamSocket)null!, PollEvents.In));
        Assert.Throws<ArgumentNullException>(() => Poller.Modify((StreamSocket)null!, PollEvents.In));
        Assert.Throws<ArgumentNullException>(() => Poller.Remove((StreamSocket)null!));
    }
}
