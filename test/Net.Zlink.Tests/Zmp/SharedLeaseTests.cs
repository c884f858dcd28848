using System.Buffers;
using Net.Zlink.Tests.Engine;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Long messages within the process, many of which wait in one lease: each has its memory to itself.</summary>
public sealed class SharedLeaseTests
{
    private const int Long = 20_000;

    [Fact]
    public async Task Memory_that_was_handed_over_goes_back_with_its_message_whatever_others_are_held()
    {
        await using var fixture = new ContextFixture();
        (PairSocket sender, PairSocket receiver) = Connect(fixture);
        ArrayOwner[] owners = [new('a'), new('b'), new('c')];
        foreach (ArrayOwner owner in owners)
        {
            await sender.SendAsync(owner, Long, Guard.Token).Guarded();
        }

        var messages = new Message[3];
        Assert.Equal(3, receiver.ReceiveMany(messages));
        messages[1].Dispose();
        messages[1].Dispose();
        Assert.Equal([0, 1, 0], owners.Select(static owner => owner.Disposals));
        Assert.Throws<ObjectDisposedException>(() => messages[1].Memory);
        Assert.True(messages[0].Span == owners[0].Array && messages[2].Span == owners[2].Array);
        messages[2].Dispose();
        messages[0].Dispose();
        Assert.Equal([1, 1, 1], owners.Select(static owner => owner.Disposals));
    }

    [Fact]
    public async Task Messages_of_all_lengths_and_numbers_of_parts_arrive_whole_and_in_order()
    {
        const int Count = 1_000;
        await using var fixture = new ContextFixture();
        (PairSocket sender, PairSocket receiver) = Connect(fixture);
        Func<int, byte[]> payload = static i => Wire.Pattern(i % 3 == 0 ? 10 : Long, i);
        using var builder = new MessageBuilder(fixture.Pool);
        for (int i = 0; i < Count; i++)
        {
            if (i % 7 == 0)
            {
                sender.Send(builder.Add("head"u8).Add(payload(i)));
            }
            else
            {
                sender.Send(payload(i));
            }
        }

        for (int i = 0; i < Count; i++)
        {
            Assert.True(receiver.TryReceive(out Message message));
            Assert.Equal(i % 7 == 0 ? 2 : 1, message.PartCount);
            Wire.AssertSame(payload(i), message[message.PartCount - 1].ToArray());
            message.Dispose();
        }
    }

    [Fact]
    public async Task Of_what_a_cancelled_topic_leaves_unread_the_rest_is_received_and_the_memory_of_the_others_goes_back()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Subscribe("a");
        subscriber.Subscribe("b");
        subscriber.Connect(publisher.Bind("inproc://topics"));
        await fixture.UntilAsync(() => publisher.TopicCount == 2);
        ArrayOwner[] owners = [.. "abbaab".Select(static topic => new ArrayOwner(topic))];
        foreach (ArrayOwner owner in owners)
        {
            await publisher.SendAsync(owner, Long, Guard.Token).Guarded();
        }

        subscriber.Unsubscribe("a");
        foreach (ArrayOwner owner in owners.Where(static owner => owner.Array[0] == 'b'))
        {
            Assert.Equal(0, owner.Disposals);
            Assert.True(subscriber.TryReceive(out Message message));
            Assert.True(message.Span == owner.Array);
            message.Dispose();
            Assert.Equal(1, owner.Disposals);
        }

        Assert.False(subscriber.TryReceive(out _));
        Assert.All(owners, static owner => Assert.Equal(1, owner.Disposals));
    }

    [Fact]
    public async Task Messages_that_a_conflating_reader_replaces_are_released_while_others_send()
    {
        await using var fixture = new ContextFixture();
        DealerSocket sender = fixture.Context.CreateDealer();
        sender.Connect("inproc://later");
        int cameThrough = 0;
        var older = new ArrayOwner('a')
        {
            OnDispose = () =>
            {
                EngineFixture.InParallel(() => sender.TrySend("x"u8)); // Were the lock that it needs held, this would not come to its end.
                cameThrough++;
            },
        };
        var newer = new ArrayOwner('b');
        await sender.SendAsync(older, Long, Guard.Token).Guarded();
        await sender.SendAsync(newer, Long, Guard.Token).Guarded();

        DealerSocket receiver = fixture.Context.CreateDealer(new DealerOptions { Conflate = true });
        receiver.Bind("inproc://later");

        Assert.Equal((1, 1), (older.Disposals, cameThrough));
        (await receiver.ReceiveAsync(Guard.Token).Guarded()).Dispose();
    }

    private static (PairSocket Sender, PairSocket Receiver) Connect(ContextFixture fixture)
    {
        PairSocket receiver = fixture.Context.CreatePair();
        PairSocket sender = fixture.Context.CreatePair();
        sender.Connect(receiver.Bind("inproc://pair"));
        return (sender, receiver);
    }

    /// <summary>Memory on an array of its own, which begins with a letter and counts how often it is let go of.</summary>
    private sealed class ArrayOwner(char first) : IMemoryOwner<byte>
    {
        private int _disposals;

        public byte[] Array { get; } = [(byte)first, .. Wire.Pattern(Long - 1)];

        public Action? OnDispose { get; init; }

        public int Disposals => Volatile.Read(ref _disposals);

        public Memory<byte> Memory => Array;

        public void Dispose()
        {
            Interlocked.Increment(ref _disposals);
            OnDispose?.Invoke();
        }
    }
}
