using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Engine;
using Net.Zlink.Tests.Sockets.Links;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets.Patterns;

/// <summary>A subscriber has left, and its topics are still in the publisher's table.</summary>
public sealed class SubscriberRemovalQueueTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Messages_go_out_meanwhile_and_none_to_the_one_that_has_left(bool inverts)
    {
        using var world = new Fixture(isExtended: false);
        world.Core.Inverts = inverts;
        Listener leaving = world.Add(inverts ? "none" : "a");
        Listener staying = world.Add(inverts ? "none" : "a");
        Task detached;
        using (world.Core.RemovalQueue.EnterTableScope())
        {
            detached = world.LeaveAsync(leaving);
            world.Publish("a1", "b2");
        }

        await detached;
        world.Publish("a3");
        Assert.Equal((0, inverts ? 3 : 2), (leaving.Messages, staying.Messages));
    }

    [Fact]
    public async Task A_removed_subscriber_of_everything_is_not_counted_among_those_that_still_are()
    {
        using var world = new Fixture(isExtended: false);
        Listener leaving = world.Add("");
        Listener all = world.Add("");
        Listener some = world.Add("a");
        Task detached;
        using (world.Core.RemovalQueue.EnterTableScope())
        {
            detached = world.LeaveAsync(leaving);
            world.Publish("a", "b"); // The first goes to both: it is not known from that that both want everything.
        }

        await detached;
        Assert.Equal((0, 2, 1), (leaving.Messages, all.Messages, some.Messages));
    }

    [Fact]
    public async Task A_subscriber_that_joins_during_a_removal_becomes_first_of_the_freed_topics_and_loses_none()
    {
        using var world = new Fixture(isExtended: true);
        Listener leaving = world.Add("a", "b", "c");
        Listener staying = world.Add("b");
        Listener next = world.Add();
        Task detached;
        Task subscribed;
        using (world.Core.RemovalQueue.EnterTableScope())
        {
            detached = world.LeaveAsync(leaving);
            subscribed = Task.Run(() => Fixture.Subscribe(world, next, "c", "b", "a"), Guard.Token);
        }

        await detached.Guarded();
        await subscribed.Guarded();
        Assert.Equal(["+a", "+b", "+c", "-a", "-c", "+c", "+a"], world.ReadNotices());
        world.Publish("a", "b", "c");
        Assert.Equal((0, 1, 3), (leaving.Messages, staying.Messages, next.Messages));
        Assert.Equal(3, world.Core.TopicCount);
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public async Task Notifications_of_a_removal_follow_the_options_and_come_in_ascending_order(bool isVerbose, bool isManual)
    {
        using var world = new Fixture(isExtended: true);
        world.Core.SetNotices(new NoticeRules(isVerbose, isVerbose, isManual));
        Listener leaving = world.Add("c", "b", "a", "ab");
        Listener staying = world.Add("b");
        world.ReadNotices();
        await world.LeaveAsync(leaving).Guarded();
        string[] expected = isVerbose || isManual ? ["-a", "-ab", "-b", "-c"] : ["-a", "-ab", "-c"];
        Assert.Equal(expected, world.ReadNotices());
        await world.LeaveAsync(staying).Guarded();
    }

    [Fact]
    public async Task The_shard_of_one_that_leaves_with_many_does_not_wait_until_they_are_out()
    {
        using var world = new Fixture(isExtended: true);
        Listener leaving = world.Add([.. Enumerable.Range(0, 2_000).Select(static i => $"{i}")]);
        world.ReadNotices();
        Task detached;
        using (world.Core.RemovalQueue.EnterTableScope())
        {
            detached = world.LeaveAsync(leaving);
            Assert.True(SpinWait.SpinUntil(() => detached.IsCompleted, EngineFixture.Patience));
        }

        await detached;
        Listener next = world.Add("1");
        string[] notices = world.ReadNotices();
        Assert.Equal(2_001, notices.Length);
        Assert.Equal("+1", notices[^1]); // Behind all cancels.
        await world.LeaveAsync(next).Guarded();
    }

    [Fact]
    public async Task Memory_that_is_not_to_be_had_for_telling_of_them_keeps_no_topic_and_no_socket_from_its_end()
    {
        using var world = new Fixture(isExtended: true);
        Listener leaving = world.Add("a", "b");
        world.ReadNotices();
        world.LoseMemory();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => world.LeaveAsync(leaving)).Guarded();

        Assert.Equal(0, world.Core.TopicCount);
        world.Close();
        await world.Core.Parts.AllClosed.Guarded();
    }

    [Fact]
    public async Task A_socket_that_is_closed_meanwhile_has_ended_only_when_they_are_out()
    {
        using var world = new Fixture(isExtended: true);
        Listener leaving = world.Add([.. Enumerable.Range(0, 2_000).Select(static i => $"{i}")]);
        Task detached;
        using (world.Core.RemovalQueue.EnterTableScope())
        {
            detached = world.LeaveAsync(leaving);
            world.Close();
            Assert.False(world.Core.Parts.AllClosed.IsCompleted);
        }

        await world.Core.Parts.AllClosed.Guarded();
        await detached.Guarded();
        Assert.Equal(0, world.Core.TopicCount);
    }

    /// <summary>A publisher without connections.</summary>
    private sealed class Fixture : IDisposable
    {
        private readonly EngineHost _host = new(1, TestPools.Create(), TimeProvider.System, NullLogger.Instance, new RecordingObserver());

        public Fixture(bool isExtended) => Core = new PublisherCore(_host, isExtended);

        public PublisherCore Core { get; }

        public Listener Add(params string[] topics)
        {
            var pipe = new Listener(Core) { Endpoint = "test", IsActive = false };
            pipe.Lane.BelongTo(pipe);
            Assert.True(Core.TryAttach(pipe, peer: null));
            Subscribe(this, pipe, topics);
            return pipe;
        }

        public static void Subscribe(Fixture world, Listener pipe, params string[] topics)
        {
            foreach (string topic in topics)
            {
                world.Core.OnSubscription(pipe, Encoding.ASCII.GetBytes(topic), subscribes: true);
            }
        }

        public void Publish(params string[] messages)
        {
            foreach (string message in messages)
            {
                Core.Route([], new OutgoingMessage(Encoding.ASCII.GetBytes(message)));
            }
        }

        /// <summary>Returns when it has no place any more; completes when its topics are out.</summary>
        public Task LeaveAsync(Listener pipe)
        {
            Task detached = Task.Run(() => Core.Detach(pipe, dropUnread: true), Guard.Token);
            Assert.True(SpinWait.SpinUntil(() => !Core.Has(pipe), EngineFixture.Patience));
            return detached;
        }

        public string[] ReadNotices()
        {
            List<string> notices = [];
            while (Core.Receive.Take() is { } text)
            {
                notices.Add((text[0] == 1 ? "+" : "-") + text[1..]);
            }

            return [.. notices];
        }

        /// <summary>From here on there is none: the pool has gone.</summary>
        public void LoseMemory() => _host.Pool.Dispose();

        public void Close()
        {
            if (Core.TryClose(new SocketEnd(DisconnectReason.Local, static () => new ObjectDisposedException("test"))))
            {
                Core.Close(TimeSpan.Zero);
            }
        }

        public void Dispose()
        {
            Close();
            Assert.Equal(0, _host.Pool.GetStatistics().Live);
            _host.Dispose();
            _host.Pool.Dispose();
        }
    }

    /// <summary>A subscriber that counts what it is sent.</summary>
    private sealed class Listener(PublisherCore core) : PeerLink(core, new InboundLane(default))
    {
        private int _messages;

        public int Messages => Volatile.Read(ref _messages);

        public override QueueCounts Outbound => default;

        public override FullCause FullCause => FullCause.Messages;

        public override bool HasCapacity => true;

        public override bool IsConnected => true;

        public override SendStatus TrySend(in OutgoingMessage message, bool force = false)
        {
            Interlocked.Increment(ref _messages);
            return SendStatus.Accepted;
        }

        public override void SendOwn(Net.Zlink.Protocol.Zmp.ZmpFlags flags, ReadOnlySpan<byte> body)
        {
        }

        public override void OnLaneCapacity()
        {
        }

        public override void SetLimits(QueueLimits outbound, QueueLimits inbound)
        {
        }

        public override void Close(DisconnectReason reason, TimeSpan linger)
        {
        }

        public override void Abort()
        {
        }
    }
}
