using System.Text;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Sockets.Links;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets;

public sealed class BlockedSendQueueTests : IDisposable
{
    private readonly TestCore _core = TestCore.Create();
    private readonly List<string> _routed = [];

    public void Dispose() => _core.Dispose();

    [Fact]
    public async Task Room_lets_those_who_wait_send_in_the_order_in_which_they_came()
    {
        Task<SendStatus>[] waits = [Wait("1"), Wait("2"), Wait("3")];
        Assert.Equal(SendStatus.Full, _core.TrySend(default, new OutgoingMessage("overtaker"u8)));
        int capacity = 2;
        _core.Routing = (_, payload) => capacity-- > 0 ? Routed(payload) : SendStatus.Full;
        _core.BlockedSends.RetryAll();
        Assert.Equal(["1", "2"], _routed);
        Assert.False(waits[2].IsCompleted);
        Assert.False(_core.BlockedSends.IsEmpty);
        capacity = 1;
        _core.BlockedSends.RetryAll();
        Assert.All(await Task.WhenAll(waits).WaitAsync(Patience, TestContext.Current.CancellationToken),
            s => Assert.Equal(SendStatus.Accepted, s));
        Assert.Equal(["1", "2", "3"], _routed);
        Assert.True(_core.BlockedSends.IsEmpty);
    }

    [Fact]
    public async Task Each_peers_messages_keep_their_order_and_a_full_peer_holds_up_nobody_else()
    {
        Task<SendStatus> a1 = Wait("a1", "A");
        Task<SendStatus> b1 = Wait("b1", "B");
        Task<SendStatus> a2 = Wait("a2", "A");
        Task<SendStatus> b2 = Wait("b2", "B");
        _core.Routing = (id, payload) => id[0] == 'B' ? Routed(payload) : SendStatus.Full;
        Assert.True(_core.BlockedSends.HasEarlierWaiter(new SendTarget("A"u8)));
        Assert.False(_core.BlockedSends.HasEarlierWaiter(new SendTarget("C"u8)));
        _core.BlockedSends.RetryAll();
        await Task.WhenAll(b1, b2).WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.False(_core.BlockedSends.HasEarlierWaiter(new SendTarget("B"u8)));
        _core.Routing = (_, payload) => Routed(payload);
        _core.BlockedSends.RetryAll();
        await Task.WhenAll(a1, a2).WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal(["b1", "b2", "a1", "a2"], _routed);
    }

    [Fact]
    public async Task A_send_cancelled_in_the_middle_of_the_line_sends_nothing()
    {
        using var source = new CancellationTokenSource();
        Task<SendStatus> first = Wait("1");
        Task<SendStatus> cancelled = WaitCancellable("2", routeId: null, source.Token);
        Task<SendStatus> third = Wait("3");
        await source.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(Patience, TestContext.Current.CancellationToken));
        _core.Routing = (_, payload) => Routed(payload);
        _core.BlockedSends.RetryAll();
        await Task.WhenAll(first, third).WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal(["1", "3"], _routed);
    }

    [Fact]
    public async Task Closing_ends_every_wait_and_every_later_one()
    {
        Task<SendStatus>[] waits = [Wait("1"), Wait("2", "A")];
        _core.BlockedSends.Close();
        Assert.All(await Task.WhenAll(waits).WaitAsync(Patience, TestContext.Current.CancellationToken),
            s => Assert.Equal(SendStatus.Closed, s));
        Assert.Equal(SendStatus.Closed, await Wait("3"));
        Assert.True(_core.BlockedSends.IsEmpty);
        _core.BlockedSends.RetryAll();
        Assert.Empty(_routed);
    }

    [Fact]
    public async Task Room_that_comes_while_a_send_joins_the_line_is_found()
    {
        _core.Routing = (_, payload) => Routed(payload);
        Assert.Equal(SendStatus.Accepted, await Wait("1").WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.True(_core.BlockedSends.IsEmpty);
    }

    [Fact]
    public async Task Room_that_is_told_while_a_message_is_routed_does_not_send_it_twice()
    {
        // A socket of this process that waits for a message takes it inside the send, and the room it makes is told on the same thread.
        Task<SendStatus> first = Wait("1");
        Task<SendStatus> second = Wait("2");
        _core.Routing = (_, payload) =>
        {
            SendStatus status = Routed(payload);
            _core.BlockedSends.RetryAll();
            return status;
        };
        _core.BlockedSends.RetryAll();
        await Task.WhenAll(first, second).WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal(SendStatus.Accepted, await Wait("3").WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.Equal(["1", "2", "3"], _routed);
    }

    [Fact]
    public async Task A_message_that_cannot_be_read_any_more_fails_its_own_send_alone()
    {
        Task<SendStatus> bad = Wait("bad");
        Task<SendStatus> good = Wait("good");
        _core.Routing = (_, payload) => payload[0] == 'b' ? throw new ObjectDisposedException("owner") : Routed(payload);
        _core.BlockedSends.RetryAll();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => bad.WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.Equal(SendStatus.Accepted, await good.WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.Throws<ObjectDisposedException>(() => Ignore(Wait("bad again")));
        Assert.True(_core.BlockedSends.IsEmpty);
        Assert.Equal(SendStatus.Accepted, await Wait("last").WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.Equal(["good", "last"], _routed);
    }

    [Fact]
    public async Task Memory_that_was_handed_over_with_a_waiting_send_is_let_go_outside_of_the_line()
    {
        bool couldUseTheLine = false;
        var owner = new CallbackOwner(
            () => couldUseTheLine = Task.Run(() => _core.BlockedSends.HasEarlierWaiter(new SendTarget("A"u8))).Wait(Patience));
        Task<SendStatus> other = Wait("other", "B");
        Task<SendStatus> waiting = Wait("1", "A");
        _core.Routing = (id, payload) =>
        {
            if (id[0] == 'B')
            {
                return SendStatus.Full;
            }

            DeferredDisposal.Dispose(owner); // As a queue does that has copied what was handed over.
            return Routed(payload);
        };
        _core.BlockedSends.RetryAll();
        Assert.Equal(SendStatus.Accepted, await waiting.WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.True(couldUseTheLine);
        Assert.False(other.IsCompleted);

        couldUseTheLine = false;
        Assert.Equal(SendStatus.Accepted, await Wait("2", "A").WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.True(couldUseTheLine);
        _core.BlockedSends.Close();
    }

    [Fact]
    public void Room_of_another_peer_that_is_told_while_a_message_is_routed_is_used()
    {
        // One application may be several peers: what it takes from one makes it read another.
        TestLink[] links = [TestLink.Create(_core, default), TestLink.Create(_core, default)];
        (links[0].RouteId, links[1].RouteId) = ("A"u8.ToArray(), "B"u8.ToArray());
        Ignore(Wait("b1", "B"));
        Ignore(Wait("b2", "B"));
        Ignore(Wait("a1", "A"));
        _core.Routing = (id, payload) =>
        {
            SendStatus status = Routed(payload);
            _core.OnCapacity(links[id[0] == 'A' ? 1 : 0]);
            return status;
        };
        _core.OnCapacity(links[0]);
        Assert.Equal(["a1", "b1", "b2"], _routed);
        Assert.True(_core.BlockedSends.IsEmpty);
    }

    [Fact]
    public void News_of_one_peer_look_at_the_sends_that_wait_for_it_and_at_no_others()
    {
        const int Peers = 1_000;
        for (int i = 0; i < Peers; i++)
        {
            Ignore(Wait("first", $"p{i}"));
            Ignore(Wait("second", $"p{i}"));
        }

        List<string> looks = [];
        _core.Routing = (id, _) =>
        {
            looks.Add(Encoding.ASCII.GetString(id));
            return SendStatus.Full;
        };
        TestLink seventh = TestLink.Create(_core, default);
        seventh.RouteId = "p7"u8.ToArray();
        _core.OnCapacity(seventh);
        Assert.Equal(["p7"], looks);
        seventh.IsAttached = false;
        Assert.True(_core.TryAttach(seventh, peer: null));
        Assert.Equal(["p7", "p7"], looks);
        _core.Detach(seventh, dropUnread: false);
        Assert.Equal(["p7", "p7", "p7"], looks);

        TestLink nameless = TestLink.Create(_core, default);
        _core.OnCapacity(nameless);
        _core.Detach(nameless, dropUnread: false);
        Assert.Equal(3, looks.Count);
        _core.BlockedSends.RetryAll();
        Assert.Equal(3 + Peers, looks.Count);
        _core.BlockedSends.Close();
    }

    [Fact]
    public void A_send_to_a_peer_that_reads_is_as_quick_with_thousands_of_sends_that_wait_for_others()
    {
        // Measured 1 to 3 times as long; with a look at all who wait, some thousand times.
        const int Peers = 20_000;
        const int TooMuch = 50;
        using TestCore few = TestCore.Create();
        Ignore(few.BlockedSends.Wait("x", "slow", CancellationToken.None));
        Ignore(Wait("x", "slow"));
        for (int i = 0; i < Peers; i++)
        {
            Ignore(Wait("x", $"p{i}"));
        }

        Growth.AssertBelow(TooMuch, () => TimeOfLooks(few.BlockedSends), () => TimeOfLooks(_core.BlockedSends));
        few.BlockedSends.Close();
        _core.BlockedSends.Close();

        static TimeSpan TimeOfLooks(BlockedSendQueue blockedSends) => Growth.TimeOf(() =>
        {
            for (int i = 0; i < 200; i++)
            {
                Assert.False(blockedSends.HasEarlierWaiter(new SendTarget("free"u8)));
            }
        });
    }

    private SendStatus Routed(byte[] payload)
    {
        _routed.Add(Encoding.ASCII.GetString(payload));
        return SendStatus.Accepted;
    }

    private static void Ignore(Task task) => Assert.NotNull(task);

    private Task<SendStatus> Wait(string text, string? routeId = null) => WaitCancellable(text, routeId, CancellationToken.None);

    private Task<SendStatus> WaitCancellable(string text, string? routeId, CancellationToken cancel) =>
        _core.BlockedSends.Wait(text, routeId, cancel);

    private sealed class CallbackOwner(Action disposed) : System.Buffers.IMemoryOwner<byte>
    {
        public Memory<byte> Memory => Memory<byte>.Empty;

        public void Dispose() => disposed();
    }
}
