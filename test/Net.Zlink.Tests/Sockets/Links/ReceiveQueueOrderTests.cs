using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Engine;
using Xunit;

namespace Net.Zlink.Tests.Sockets.Links;

/// <summary>Where messages come out in the order in which they came in (XPUB).</summary>
public sealed class ReceiveQueueOrderTests : IDisposable
{
    private readonly TestCore _core = TestCore.Create(ZmpSocketType.XPub);

    private ReceiveQueue Queue => _core.Receive;

    public void Dispose() => _core.Dispose();

    [Fact]
    public void Messages_of_several_peers_come_out_as_they_came_in()
    {
        TestLink a = NewLink();
        TestLink b = NewLink();
        a.Publish("a1", "a2");
        b.Publish("b1");
        a.Publish("a3");
        Assert.Equal(SendStatus.Accepted, b.Append("b2"));
        Assert.Equal(["a1", "a2", "b1"], Queue.Take(3));
        b.Publish("b3");
        Assert.Equal(["a3", "b2", "b3", "none"], Queue.Take(4));
        a.Publish("a4");
        Assert.Equal(["a4", "none"], Queue.Take(2));
    }

    [Fact]
    public void Of_a_dropped_peer_nothing_comes_and_the_others_keep_their_order()
    {
        TestLink a = NewLink();
        TestLink b = NewLink();
        a.Publish("a1");
        b.Publish("b1");
        a.Publish("a2", "a3");
        b.Publish("b2");
        Queue.Drop(a.Lane);
        Assert.True(Queue.IsReadable);
        Assert.Equal("b1", Queue.Take());
        Assert.True(Queue.IsReadable);
        Assert.Equal(["b2", "none"], Queue.Take(2));
        Assert.False(Queue.IsReadable);
        Assert.Equal((3, 0, 3), (a.Lane.Counts.AcceptedMessages, a.Lane.Counts.TakenMessages, a.Lane.Counts.DroppedMessages));
    }

    [Fact]
    public void Unread_messages_of_a_disconnected_peer_keep_the_order_of_arrival()
    {
        TestLink a = NewLink();
        TestLink b = NewLink();
        a.Publish("a1");
        b.Publish("b1");
        a.Publish("a2");
        a.IsAttached = false;
        Assert.Equal(["a1", "b1", "a2", "none"], Queue.Take(4));
    }

    [Fact]
    public async Task Waiting_receivers_get_each_message_once_in_order_of_arrival()
    {
        TestLink a = NewLink();
        Task<DequeuedMessage>[] waits = [.. Enumerable.Range(0, 3).Select(_ => Queue.Wait())];
        a.Publish("1", "2");
        a.Publish("3", "4");
        DequeuedMessage[] dequeued = await Task.WhenAll(waits).WaitAsync(EngineFixture.Patience, TestContext.Current.CancellationToken);
        Assert.Equal(["1", "2", "3"], dequeued.Select(static message => message.End()), StringComparer.Ordinal);
        Assert.Equal(["4", "none"], Queue.Take(2));
    }

    [Fact]
    public void Messages_that_came_before_a_lane_had_its_link_count_one_by_one_in_order_of_arrival()
    {
        var lane = new InboundLane(default);
        TestLink reader = NewLink();
        reader.Append(lane, "early 1");
        reader.Append(lane, "early 2");
        Queue.Enqueue(lane, lane.BelongTo(reader));
        reader.Publish("between");
        reader.Append(lane, "late");
        Assert.Equal(["early 1", "early 2", "between", "late", "none"], Queue.Take(5));
    }

    private TestLink NewLink() => TestLink.Create(_core, default);
}
