using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Links;

/// <summary>What peers that have left had sent, and what they send when they are back.</summary>
public sealed class DetachedLanesTests : IDisposable
{
    private static readonly byte[] s_a = "A"u8.ToArray();
    private static readonly byte[] s_b = "B"u8.ToArray();

    private readonly TestCore _core = TestCore.Create(ZmpSocketType.Sub);

    private ReceiveQueue Queue => _core.Receive;

    public void Dispose() => _core.Dispose();

    [Fact]
    public void A_peer_that_sent_much_and_left_has_its_turns_like_any_other()
    {
        TestLink gone = NewLink();
        TestLink there = NewLink();
        gone.Publish("a1", "a2", "a3");
        there.Publish("b1", "b2");
        Queue.End(gone.Lane, s_a);
        Assert.Equal(["a1", "b1", "a2", "b2", "a3", "none"], Queue.Take(6));
    }

    [Fact]
    public void Messages_of_a_reconnected_peer_wait_for_its_earlier_ones_and_those_of_other_peers_do_not()
    {
        TestLink first = NewLink();
        first.Publish("a1", "a2", "a3");
        Queue.End(first.Lane, s_a);
        TestLink next = NewLink();
        Queue.Follow(next.Lane, s_a);
        TestLink other = NewLink();
        Queue.Follow(other.Lane, s_b);
        next.Publish("a4", "a5");
        other.Publish("b1", "b2");
        Assert.Equal(["a1", "b1", "a2", "b2", "a3", "a4", "a5", "none"], Queue.Take(8));
        next.Publish("a6");
        Assert.Equal(["a6", "none"], Queue.Take(2));
    }

    [Fact]
    public void A_look_whether_there_is_something_holds_the_next_connection_back_too()
    {
        TestLink first = NewLink();
        TestLink next = NewLink();
        first.Publish("a1");
        Queue.End(first.Lane, s_a);
        Queue.Follow(next.Lane, s_a);
        next.Publish("a2");
        Assert.True(Queue.IsReadable);
        Assert.Equal("a1", Queue.Take());
        Assert.True(Queue.IsReadable);
        Assert.Equal("a2", Queue.Take());
        Assert.False(Queue.IsReadable);
    }

    [Fact]
    public void A_peer_that_comes_and_goes_again_and_again_is_received_in_the_order_of_its_connections()
    {
        for (int connection = 0; connection < 5; connection++)
        {
            TestLink pipe = NewLink();
            Queue.Follow(pipe.Lane, s_a);
            pipe.Publish($"{connection}.1", $"{connection}.2");
            Queue.End(pipe.Lane, s_a);
            if (connection == 0)
            {
                NewLink().Publish("b1", "b2", "b3");
            }
        }

        Assert.Equal(["0.1", "b1", "0.2", "b2", "b3", "1.1", "1.2", "2.1", "2.2", "3.1", "3.2", "4.1", "4.2", "none"], Queue.Take(14));
    }

    [Fact]
    public void A_rest_in_the_middle_that_is_dropped_leaves_the_order_of_the_others()
    {
        TestLink[] links = [NewLink(), NewLink(), NewLink(), NewLink()];
        for (int i = 0; i < 3; i++)
        {
            Queue.Follow(links[i].Lane, s_a);
            links[i].Publish($"{i}.1", $"{i}.2");
            Queue.End(links[i].Lane, s_a);
        }

        Assert.Equal("0.1", Queue.Take()); // The other two have had their turn and wait.
        Queue.Drop(links[1].Lane);
        Queue.Drop(links[2].Lane);
        Queue.Follow(links[3].Lane, s_a);
        links[3].Publish("3.1");
        Assert.Equal(["0.2", "3.1", "none"], Queue.Take(3));
    }

    [Fact]
    public void A_rest_that_is_dropped_holds_nobody_back()
    {
        TestLink first = NewLink();
        TestLink next = NewLink();
        TestLink other = NewLink();
        first.Publish("a1", "a2");
        Queue.End(first.Lane, s_a);
        Queue.Follow(next.Lane, s_a);
        next.Publish("a3");
        other.Publish("b1");
        Assert.Equal(["a1", "b1"], Queue.Take(2));
        Queue.Drop(first.Lane);
        Assert.Equal(["a3", "none"], Queue.Take(2));
    }

    [Fact]
    public void A_connection_that_is_held_back_may_be_dropped()
    {
        TestLink first = NewLink();
        TestLink next = NewLink();
        first.Publish("a1", "a2");
        Queue.End(first.Lane, s_a);
        Queue.Follow(next.Lane, s_a);
        next.Publish("a3");
        Assert.Equal("a1", Queue.Take());
        Queue.Drop(next.Lane);
        Assert.Equal(["a2", "none"], Queue.Take(2));
    }

    [Fact]
    public void Closing_drops_what_is_held_back_too()
    {
        TestLink first = NewLink();
        TestLink next = NewLink();
        first.Publish("a1", "a2");
        Queue.End(first.Lane, s_a);
        Queue.Follow(next.Lane, s_a);
        next.Publish("a3");
        Assert.Equal("a1", Queue.Take());
        Queue.Close(() => new FormatException());
        Assert.Equal((1, 1), (next.Lane.Counts.Dropped, first.Lane.Counts.Dropped));
        Assert.Throws<FormatException>(() => Queue.Take());
    }

    [Fact]
    public void Messages_held_behind_a_detached_lane_are_filtered_again_when_the_filter_changes()
    {
        TestLink first = NewLink();
        TestLink next = NewLink();
        first.Publish("a1", "x", "a2");
        Queue.End(first.Lane, s_a);
        Queue.Follow(next.Lane, s_a);
        next.Publish("x", "a3");
        Assert.Equal("a1", Queue.Take());
        _core.WantOnly('a');
        Assert.Equal(["a2", "a3", "none"], Queue.Take(3));
    }

    [Fact]
    public void A_connection_that_ends_with_nothing_unread_is_waited_for_by_nobody()
    {
        TestLink first = NewLink();
        TestLink second = NewLink();
        TestLink third = NewLink();
        first.Publish("a1", "a2");
        Queue.End(first.Lane, s_a);
        Queue.Follow(second.Lane, s_a);
        Queue.End(second.Lane, s_a);
        Queue.Follow(third.Lane, s_a);
        third.Publish("a3");
        Assert.Equal(["a1", "a2", "a3", "none"], Queue.Take(4));
    }

    /// <summary>Any sequence of connections, ends, messages and looks: each peer's messages come in their order, all of them, and nothing
    /// stands still while something is unread.</summary>
    [Fact]
    public void Each_peers_messages_come_in_order_whatever_its_connections_do()
    {
        Gen<(int Step, int Peer)> steps = Gen.Choose(0, 9).SelectMany(static step => Gen.Choose(0, 2).Select(peer => (step, peer)));
        ForAllArrays(steps, 2_000, static sequence => new Fixture().Play(sequence));
    }

    private TestLink NewLink() => TestLink.Create(_core, default);

    /// <summary>Three peers that come, send and go, and what has to be received from them.</summary>
    private sealed class Fixture
    {
        private readonly TestLink?[] _live = new TestLink?[3];
        private readonly int[] _sent = new int[3];
        private readonly int[] _received = new int[3];

        private int Unread => _sent.Sum() - _received.Sum();

        public void Play((int Step, int Peer)[] steps)
        {
            using TestCore core = TestCore.Create();
            foreach ((int step, int peer) in steps)
            {
                switch (step)
                {
                    case <= 2 when _live[peer] is { } pipe:
                        core.Receive.End(pipe.Lane, IdOf(peer));
                        _live[peer] = null;
                        break;
                    case <= 5:
                        Send(core, peer, 1 + (step % 3));
                        break;
                    case 6:
                        Assert.Equal(Unread > 0, core.Receive.IsReadable);
                        break;
                    default:
                        ReceiveOne(core.Receive);
                        break;
                }
            }

            while (Unread > 0)
            {
                ReceiveOne(core.Receive);
            }

            ReceiveOne(core.Receive);
        }

        private static byte[] IdOf(int peer) => [(byte)peer];

        private void Send(TestCore core, int peer, int messages)
        {
            if (_live[peer] is not { } pipe)
            {
                _live[peer] = pipe = TestLink.Create(core, default);
                core.Receive.Follow(pipe.Lane, IdOf(peer));
            }

            pipe.Publish([.. Enumerable.Range(_sent[peer], messages).Select(number => $"{peer} {number}")]);
            _sent[peer] += messages;
        }

        private void ReceiveOne(ReceiveQueue queue)
        {
            string? text = queue.Take();
            Assert.Equal(Unread > 0, text is not null);
            if (text is not null)
            {
                int peer = text[0] - '0';
                Assert.Equal($"{peer} {_received[peer]++}", text);
            }
        }
    }
}
