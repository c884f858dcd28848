using System.Buffers;
using Net.Zlink.Tests.Engine;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Memory that is handed over with a message is disposed by the application's own code, which may do as it likes: no lock is held
/// around it.</summary>
public sealed class DeferredDisposalTests
{
    private const int Long = 20_000;

    [Theory]
    [InlineData(5)]
    [InlineData(Long)]
    public async Task The_memory_of_a_message_that_a_newer_one_replaces_is_let_go_while_others_send(int newer)
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Conflate = true, Linger = TimeSpan.Zero });
        dealer.Connect(fixture.Listen().Endpoint);
        OtherThread other = new(() => dealer.TrySend("x"u8));
        await dealer.SendAsync(other.NewOwner(), Long, Guard.Token).Guarded();
        dealer.TrySend(new byte[newer]);
        Assert.Equal(1, other.CameThrough);
    }

    [Fact]
    public async Task An_XSUB_lets_go_of_what_it_copied_or_sends_to_nobody_while_others_send()
    {
        await using var fixture = new ContextFixture();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        OtherThread other = new(() => subscriber.TrySend("x"u8));
        await subscriber.SendAsync(other.NewOwner(), Long, Guard.Token).Guarded();
        subscriber.Connect(fixture.Listen().Endpoint);
        await subscriber.SendAsync(other.NewOwner(), 10, Guard.Token).Guarded();
        Assert.Equal(2, other.CameThrough);
    }

    [Fact]
    public async Task A_SUB_whose_cancelled_topic_lets_a_publishers_send_go_lets_others_subscribe_while_that_ones_memory_is_let_go()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { NoDrop = true, SendHighWaterMark = 1 });
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1 });
        publisher.Bind("inproc://nodrop");
        subscriber.Subscribe([]);
        subscriber.Connect("inproc://nodrop");
        while (publisher.TrySend("x"u8))
        {
            // Until it is full.
        }

        OtherThread other = new(() => subscriber.Subscribe("y"u8));
        Task sending = publisher.SendAsync(other.NewOwner(), Long, Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        subscriber.Unsubscribe([]);
        await sending.Guarded();
        Assert.Equal(1, other.CameThrough);
    }

    [Fact]
    public async Task A_publisher_lets_go_of_a_short_message_that_several_have_a_copy_of()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        publisher.Bind("inproc://several");
        for (int i = 0; i < 2; i++)
        {
            SubSocket subscriber = fixture.Context.CreateSub();
            subscriber.Subscribe([]);
            subscriber.Connect("inproc://several");
        }

        var owner = new CountingOwner(Wire.Pattern(10));
        await publisher.SendAsync(owner, 10, Guard.Token).Guarded();
        Assert.Equal(1, owner.Disposals);
    }

    [Fact]
    public async Task A_short_message_that_is_copied_within_the_process_is_let_go_of_when_it_was_sent()
    {
        await using var fixture = new ContextFixture();
        PairSocket receiver = fixture.Context.CreatePair();
        PairSocket sender = fixture.Context.CreatePair();
        sender.Connect(receiver.Bind("inproc://short"));
        var owner = new CountingOwner(Wire.Pattern(10));
        await sender.SendAsync(owner, 10, Guard.Token).Guarded();
        Assert.Equal(1, owner.Disposals);
    }

    [Theory]
    [InlineData("data")]
    [InlineData("\x01topic")]
    public async Task An_XSUB_lets_go_of_what_a_publisher_of_the_process_does_not_take_in(string text)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind("inproc://upstream"));
        var owner = new CountingOwner(System.Text.Encoding.ASCII.GetBytes(text));
        await subscriber.SendAsync(owner, text.Length, Guard.Token).Guarded();
        Assert.Equal(1, owner.Disposals);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(Long)]
    public async Task A_ROUTER_lets_go_of_what_it_drops(int length)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { SendHighWaterMark = 1 });
        DealerSocket full = fixture.Context.CreateDealer(new DealerOptions { ReceiveHighWaterMark = 1, RoutingId = "full"u8.ToArray() });
        full.Connect(router.Bind("inproc://router"));
        for (int i = 0; i < 3; i++)
        {
            router.To("full"u8).Send("x"u8);
        }

        foreach (byte[] id in new[] { "full"u8.ToArray(), "nobody"u8.ToArray() })
        {
            var owner = new CountingOwner(Wire.Pattern(length));
            await router.To(id).SendAsync(owner, length, Guard.Token).Guarded();
            Assert.Equal(1, owner.Disposals);
        }

        SocketStatistics counters = router.GetStatistics();
        Assert.Equal((2, 1), (counters.DroppedAtHighWaterMark, counters.DroppedUnroutable));
    }

    [Fact]
    public async Task Memory_that_no_array_is_beneath_is_let_go_within_the_process_while_others_send()
    {
        await using var fixture = new ContextFixture();
        PairSocket receiver = fixture.Context.CreatePair();
        PairSocket sender = fixture.Context.CreatePair();
        sender.Connect(receiver.Bind("inproc://native"));
        OtherThread other = new(() => sender.TrySend("x"u8));
        using var builder = new MessageBuilder();
        sender.Send(builder.Add("head"u8).Add(other.NewOwner(), Long));
        Assert.Equal(1, other.CameThrough);
        string[] received = new string[2];
        for (int i = 0; i < received.Length; i++)
        {
            using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
            received[i] = string.Join(' ', message.ToArrays().Select(static part => part.Length));
        }

        Assert.Equal(["1", $"4 {Long}"], received.Order(StringComparer.Ordinal), StringComparer.Ordinal);
    }

    [Fact]
    public async Task Memory_that_no_array_is_beneath_arrives_within_the_process_as_it_was_given_and_is_let_go_of()
    {
        await using var fixture = new ContextFixture();
        PairSocket receiver = fixture.Context.CreatePair();
        PairSocket sender = fixture.Context.CreatePair();
        sender.Connect(receiver.Bind("inproc://native"));
        byte[] payload = Wire.Pattern(Long);
        var owner = new CountingOwner(payload);
        await sender.SendAsync(owner, Long, Guard.Token).Guarded();
        Assert.Equal(1, owner.Disposals);
        using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(payload, message.Span);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task A_publisher_gives_back_what_it_took_for_a_message_whose_memory_was_disposed_too_early(int subscribers)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        publisher.Bind("inproc://early");
        SubSocket[] all = [.. Enumerable.Range(0, subscribers).Select(_ => fixture.Context.CreateSub())];
        foreach (SubSocket subscriber in all)
        {
            subscriber.Subscribe([]);
            subscriber.Connect("inproc://early");
        }

        using (var builder = new MessageBuilder(fixture.Pool))
        {
            IMemoryOwner<byte> early = fixture.Pool.Rent(Long);
            builder.Add("x"u8).Add(fixture.Pool.Rent(Long), Long).Add(early, Long);
            early.Dispose();
            Assert.Throws<ObjectDisposedException>(() => publisher.TrySend(builder));
        }

        Assert.Empty(fixture.Pool.GetOutstanding());
        publisher.Send("after"u8);
        foreach (SubSocket subscriber in all)
        {
            using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal("after"u8, message.Span);
        }
    }

    [Fact]
    public async Task An_XSUB_changes_no_topic_by_a_message_whose_memory_was_disposed_too_early()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind("inproc://early"));
        using var builder = new MessageBuilder(fixture.Pool);
        IMemoryOwner<byte> early = fixture.Pool.Rent(Long);
        builder.Add("\x01topic"u8).Add(early, Long);
        early.Dispose();
        Assert.Throws<ObjectDisposedException>(() => subscriber.TrySend(builder));
        Assert.Equal((0, 0), (subscriber.TopicCount, publisher.TopicCount));
        Assert.False(publisher.CanReceive);
    }

    [Fact]
    public async Task A_message_whose_memory_was_disposed_too_early_leaves_nothing_behind_within_the_process()
    {
        await using var fixture = new ContextFixture();
        PairSocket receiver = fixture.Context.CreatePair();
        PairSocket sender = fixture.Context.CreatePair();
        sender.Connect(receiver.Bind("inproc://early"));
        var first = new CountingOwner(Wire.Pattern(Long));
        using (var ofAnotherPool = new MessageBuilder())
        {
            IMemoryOwner<byte> early = fixture.Pool.Rent(Long);
            ofAnotherPool.Add("x"u8).Add(first, Long).Add(early, Long);
            early.Dispose();
            Assert.Throws<ObjectDisposedException>(() => sender.TrySend(ofAnotherPool));
        }

        Assert.Equal(1, first.Disposals);
        Assert.Empty(fixture.Pool.GetOutstanding());
        sender.Send("after"u8);
        using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("after"u8, message.Span);
    }

    /// <summary>What another thread does while memory is being let go of. Were the lock that it needs held there, it would wait for
    /// ever.</summary>
    private sealed class OtherThread(Action does)
    {
        private int _cameThrough;

        public int CameThrough => Volatile.Read(ref _cameThrough);

        /// <summary>Memory that says so when it is let go of; no array is beneath it.</summary>
        public IMemoryOwner<byte> NewOwner() => new CountingOwner(Wire.Pattern(Long))
        {
            OnDispose = () =>
            {
                EngineFixture.InParallel(does);
                Interlocked.Increment(ref _cameThrough);
            },
        };
    }
}
