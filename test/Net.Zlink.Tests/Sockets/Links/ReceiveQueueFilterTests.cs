using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Engine;
using Xunit;

namespace Net.Zlink.Tests.Sockets.Links;

/// <summary>A filter that comes to want less while messages are unread (SUB).</summary>
public sealed class ReceiveQueueFilterTests : IDisposable
{
    private readonly TestCore _core = TestCore.Create(ZmpSocketType.Sub);

    private ReceiveQueue Queue => _core.Receive;

    public void Dispose() => _core.Dispose();

    [Fact]
    public void Unread_messages_that_no_longer_pass_the_filter_are_skipped_and_counted_as_dropped()
    {
        TestLink one = NewLink();
        TestLink other = NewLink();
        one.Publish("a1", "b1", "a2");
        other.Publish("a3", "b2");
        _core.WantOnly('b');
        Assert.Equal(["b1", "b2", "none"], Queue.Take(3));
        Assert.Equal((3, 1, 2, 0, 0L), Books(one));
        Assert.Equal((2, 1, 1, 0, 0L), Books(other));
    }

    [Fact]
    public void Messages_that_consumers_had_dequeued_by_peer_are_filtered_again()
    {
        TestLink one = NewLink();
        TestLink other = NewLink();
        one.Publish("a1", "a2", "b3");
        other.Publish("a1", "a2", "b4");
        Assert.Equal(["a1", "a1"], Queue.Take(2));
        _core.WantOnly('b');
        Assert.Equal(["b3", "b4", "none"], Queue.Take(3));
    }

    [Fact]
    public void Messages_that_consumers_had_dequeued_of_an_only_peer_are_filtered_again()
    {
        TestLink pipe = NewLink();
        pipe.Publish("a1", "a2", "b3");
        Assert.Equal("a1", Queue.Take());
        _core.WantOnly('b');
        Assert.Equal(["b3", "none"], Queue.Take(2));
    }

    [Fact]
    public void All_that_is_passed_over_in_one_look_at_the_queue_is_given_back()
    {
        TestLink pipe = NewLink();
        string wanted = new('b', 300);
        foreach (string text in (string[])[new('a', 300), wanted, new('a', 300)])
        {
            pipe.Publish(text); // As long as this it has memory of its own.
        }

        _core.WantOnly('b');
        var dequeued = new DequeuedMessage[3];
        Assert.Equal(1, Queue.DequeueMany(dequeued));
        Assert.Equal(wanted, dequeued[0].End());
        Assert.Equal((3, 1, 2, 0, 0L), Books(pipe)); // The pool is looked at where the test ends.
    }

    [Fact]
    public void A_queue_with_nothing_but_unwanted_messages_is_not_readable()
    {
        TestLink one = NewLink();
        TestLink other = NewLink();
        one.Publish("a1", "a2");
        other.Publish("a3");
        Assert.True(Queue.IsReadable);
        _core.WantOnly('b');
        Assert.False(Queue.IsReadable);
        Assert.Null(Queue.Take());
        Assert.Equal((2, 0, 2, 0, 0L), Books(one));
        one.Publish("b1");
        Assert.True(Queue.IsReadable);
        Assert.Equal(["b1", "none"], Queue.Take(2));
    }

    [Fact]
    public void Looking_whether_there_is_something_leaves_what_is_wanted()
    {
        TestLink pipe = NewLink();
        pipe.Publish("a1", "b1", "a2", "b2");
        _core.WantOnly('b');
        Assert.True(Queue.IsReadable);
        Assert.True(Queue.IsReadable);
        Assert.Equal("b1", Queue.Take());
        Assert.True(Queue.IsReadable);
        Assert.Equal(["b2", "none"], Queue.Take(2));
        Assert.False(Queue.IsReadable);
    }

    [Fact]
    public void A_message_that_passed_the_current_filter_version_is_not_filtered_again()
    {
        TestLink pipe = NewLink();
        _core.WantOnly('b');
        _core.Wanted = _ => throw new InvalidOperationException("asked again");
        InboundLease lease = pipe.LeaseOf("b1");
        lease.CheckedAtVersion = _core.FilterVersion;
        pipe.Publish(lease);
        Assert.Equal(["b1", "none"], Queue.Take(2));
    }

    [Fact]
    public void A_message_that_passed_an_earlier_filter_version_is_filtered_again_though_it_came_later()
    {
        TestLink pipe = NewLink();
        _core.WantOnly('b');
        Assert.Equal(SendStatus.Accepted, pipe.Append("b1", _core.FilterVersion));
        Assert.Equal(SendStatus.Accepted, pipe.Append("a1", _core.FilterVersion - 1));
        Assert.Equal(["b1", "none"], Queue.Take(2));
    }

    [Fact]
    public void The_sender_that_was_stopped_goes_on_when_unwanted_messages_are_passed_over()
    {
        TestLink pipe = TestLink.Create(_core, new QueueLimits(2, 0));
        Assert.False(pipe.Publish("a1", "a2"));
        _core.WantOnly('b');
        Assert.False(Queue.IsReadable);
        Assert.Equal((1, false), (pipe.Resumed, pipe.Lane.IsPaused));
    }

    [Fact]
    public async Task A_waiting_receiver_gets_the_next_message_that_passes_the_filter()
    {
        TestLink pipe = NewLink();
        _core.WantOnly('b');
        Task<DequeuedMessage> wait = Queue.Wait();
        pipe.Publish("a1"); // Let in a moment before the topic was cancelled.
        Assert.False(wait.IsCompleted);
        pipe.Publish("a2", "b1");
        Assert.Equal("b1", (await wait.WaitAsync(EngineFixture.Patience, TestContext.Current.CancellationToken)).End());
        Assert.Null(Queue.Take());
    }

    private static (long Received, long Delivered, long Dropped, long Queued, long Bytes) Books(TestLink pipe)
    {
        QueueCounts counts = pipe.Lane.Counts;
        return (counts.AcceptedMessages, counts.TakenMessages, counts.DroppedMessages, counts.QueuedMessages, counts.QueuedBytes);
    }

    private TestLink NewLink() => TestLink.Create(_core, default);
}
