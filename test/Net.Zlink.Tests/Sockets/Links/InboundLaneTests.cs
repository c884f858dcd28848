using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Links;

public sealed class InboundLaneTests : IDisposable
{
    // What a message of one byte counts: itself and the header it came with.
    private const int Charge = 9;

    private readonly TestCore _core = TestCore.Create();

    public void Dispose() => _core.Dispose();

    [Fact]
    public void Consumer_and_producer_state_of_a_lane_share_no_cache_line()
    {
        const int TwoLines = 128;
        const int OfEachMessage = 2 * sizeof(long); // What a sender writes: one more, and its bytes.
        (int counts, int gap, int consumer, int end) = InboundLane.Layout;
        Assert.InRange(gap, counts, consumer);
        Assert.True(end > consumer, $"Behind the consumer's state at {consumer} is what another thread reads; the padding is at {end}.");
        Assert.True(consumer - counts - OfEachMessage >= TwoLines, $"The counts are at {counts}, the consumer's state at {consumer}.");
    }

    [Fact]
    public void The_sender_is_stopped_at_the_mark_and_told_once_when_half_is_regained()
    {
        TestLink pipe = TestLink.Create(_core, new QueueLimits(10, 0));
        Assert.True(pipe.Publish([.. Enumerable.Repeat("x", 9)]));
        Assert.False(pipe.Publish("x"));
        Assert.False(pipe.Lane.MayRead());
        Assert.Equal(SendStatus.Full, pipe.Append("x"));
        Assert.Equal(10, pipe.Lane.Counts.QueuedMessages);
        Assert.DoesNotContain("none", _core.Receive.Take(4), StringComparer.Ordinal);
        Assert.Equal(0, pipe.Resumed);
        Assert.NotNull(_core.Receive.Take());
        Assert.Equal(1, pipe.Resumed);
        Assert.True(pipe.Lane.MayRead());
        Assert.DoesNotContain("none", _core.Receive.Take(5), StringComparer.Ordinal);
        Assert.Null(_core.Receive.Take());
        Assert.Equal(1, pipe.Resumed);
    }

    [Fact]
    public void Of_a_shared_lane_a_sender_that_may_send_does_not_make_it_forget_one_that_waits()
    {
        TestLink pipe = TestLink.Create(_core, new QueueLimits(10, 0), isShared: true);
        Assert.False(pipe.Publish([.. Enumerable.Repeat("x", 13)])); // The one that waits has passed the mark by a read.
        Assert.DoesNotContain("none", _core.Receive.Take(6), StringComparer.Ordinal);
        Assert.Equal((0, true), (pipe.Resumed, pipe.Lane.MayRead())); // Another asks.
        Assert.DoesNotContain("none", _core.Receive.Take(7), StringComparer.Ordinal);
        Assert.Null(_core.Receive.Take());
        Assert.Equal(1, pipe.Resumed);
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(2, 1)]
    [InlineData(3, 2)]
    [InlineData(4, 2)]
    [InlineData(5, 3)]
    public void An_odd_mark_is_halved_upwards(int mark, int regained)
    {
        TestLink pipe = TestLink.Create(_core, new QueueLimits(mark, 0));
        Assert.False(pipe.Publish([.. Enumerable.Repeat("x", mark)]));
        for (int taken = 1; taken <= mark; taken++)
        {
            Assert.NotNull(_core.Receive.Take());
            Assert.Equal(taken >= regained ? 1 : 0, pipe.Resumed);
        }
    }

    [Fact]
    public void The_limit_in_bytes_counts_headers_and_is_reported_by_halves_too()
    {
        TestLink pipe = TestLink.Create(_core, new QueueLimits(0, 4 * Charge));
        Assert.True(pipe.Publish("1", "2", "3"));
        Assert.False(pipe.Publish("4"));
        Assert.Equal(4 * Charge, pipe.Lane.Counts.QueuedBytes);
        Assert.NotNull(_core.Receive.Take());
        Assert.Equal(0, pipe.Resumed);
        Assert.NotNull(_core.Receive.Take());
        Assert.Equal(1, pipe.Resumed);
        Assert.DoesNotContain("none", _core.Receive.Take(2), StringComparer.Ordinal);
    }

    [Fact]
    public void An_empty_lane_takes_a_message_of_any_size()
    {
        TestLink pipe = TestLink.Create(_core, new QueueLimits(1, 1));
        Assert.Equal(SendStatus.Accepted, pipe.Append(new string('x', 100_000)));
        Assert.Equal(SendStatus.Full, pipe.Append("y"));
        Assert.Equal(100_000, _core.Receive.Take()!.Length);
        Assert.Null(_core.Receive.Take());
        Assert.Equal(1, pipe.Resumed);
        Assert.Equal(SendStatus.Accepted, pipe.Append("y"));
        Assert.Equal("y", _core.Receive.Take());
    }

    [Fact]
    public void Raising_the_limits_says_that_there_is_room()
    {
        TestLink pipe = TestLink.Create(_core, new QueueLimits(2, 0));
        Assert.False(pipe.Publish("a", "b"));
        Assert.True(pipe.Lane.SetLimits(new QueueLimits(10, 0)));
        Assert.False(pipe.Lane.SetLimits(new QueueLimits(20, 0)));
        Assert.True(pipe.Lane.MayRead());
        Assert.DoesNotContain("none", _core.Receive.Take(2), StringComparer.Ordinal);
    }

    [Fact]
    public void A_long_message_that_finds_no_room_or_nobody_is_not_copied()
    {
        TestLink pipe = TestLink.Create(_core, new QueueLimits(1, 0));
        string text = new('x', OutgoingMessage.LargePayload);
        Assert.Equal(SendStatus.Accepted, pipe.Append(text));
        long rented = _core.Host.Pool.GetStatistics().Rented;
        Assert.Equal(SendStatus.Full, pipe.Append(text));
        Assert.Equal(text, _core.Receive.Take());
        Assert.Equal(1, pipe.Resumed); // It is told of room, as a short one is.
        pipe.Lane.Close();
        Assert.Equal(SendStatus.Closed, pipe.Append(text));
        Assert.Equal(rented, _core.Host.Pool.GetStatistics().Rented);
    }

    [Fact]
    public void A_conflating_lane_keeps_the_newest_message_and_never_stops_its_sender()
    {
        TestLink pipe = TestLink.Create(_core, new QueueLimits(1, 1), conflates: true);
        Assert.True(pipe.Publish("a", "b", "c"));
        Assert.True(pipe.Publish("d"));
        Assert.Equal(SendStatus.Accepted, pipe.Append("e"));
        Assert.Equal(SendStatus.Accepted, pipe.Lane.Status);
        Assert.Equal(["e", "none"], _core.Receive.Take(2));
        Assert.Equal(SendStatus.Accepted, pipe.Append("f"));
        Assert.True(pipe.Publish("g", "h"));
        Assert.Equal(["h", "none"], _core.Receive.Take(2));
        QueueCounts counts = pipe.Lane.Counts;
        Assert.Equal((8, 2, 6, 0, 0),
            (counts.AcceptedMessages, counts.TakenMessages, counts.DroppedMessages, counts.QueuedMessages, counts.QueuedBytes));
    }

    [Fact]
    public void Messages_that_came_before_a_lane_had_its_link_are_announced_when_it_gets_one()
    {
        var lane = new InboundLane(default);
        TestLink pipe = TestLink.Create(_core, default);
        Assert.Equal(SendStatus.Accepted, pipe.Append(lane, "early"));
        Assert.Equal(1, lane.BelongTo(pipe));
        _core.Receive.Enqueue(lane, messages: 1);
        Assert.Equal(SendStatus.Accepted, pipe.Append(lane, "late"));
        Assert.Equal(["early", "late", "none"], _core.Receive.Take(3));
        Assert.Equal(0, new InboundLane(default).BelongTo(pipe));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(7)]
    public void A_stopped_sender_always_hears_of_room(int mark)
    {
        const int Messages = 1_000;
        TestLink pipe = TestLink.Create(_core, new QueueLimits(mark, 0));
        using var capacity = new SemaphoreSlim(0);
        pipe.OnRoom = () => capacity.Release();
        void Publish()
        {
            for (int i = 0; i < Messages; i++)
            {
                if (!pipe.Publish($"{i}"))
                {
                    do
                    {
                        Assert.True(capacity.Wait(Patience), $"Nobody told of room at message {i}.");
                    }
                    while (!pipe.Lane.MayRead());
                }
            }
        }

        void Append()
        {
            for (int i = 0; i < Messages; i++)
            {
                while (pipe.Append($"{i}") == SendStatus.Full)
                {
                    Assert.True(capacity.Wait(Patience), $"Nobody told of room at message {i}.");
                }
            }
        }

        foreach (Action send in (Action[])[Publish, Append])
        {
            InParallel(
                send,
                () =>
                {
                    // Blocks for the next one: a look again and again would use up a time slice per message where processors are scarce.
                    for (int i = 0; i < Messages; i++)
                    {
                        Assert.Equal($"{i}", _core.Receive.TakeBlocking());
                    }
                });
        }
    }

    [Fact]
    public void Long_messages_of_this_process_lie_in_one_lease_up_to_256_of_them()
    {
        TestLink pipe = TestLink.Create(_core, new QueueLimits(0, 0));
        string text = new('x', 20_000);
        for (int i = 0; i < 300; i++)
        {
            pipe.Append(text);
        }

        List<DequeuedMessage> taken = [];
        while (_core.Receive.TryDequeue(out DequeuedMessage one))
        {
            taken.Add(one);
        }

        Assert.Equal([256, 44], taken.GroupBy(static one => one.Lease).Select(static lease => lease.Count()));
        Assert.All(taken, one => Assert.Equal(text, one.End()));
    }
}
