using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Buffers;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>An outbound queue whose pool cannot allocate.</summary>
public sealed class OutboundQueueMemoryTests : IDisposable
{
    private const int Large = OutgoingMessage.LargePayload;
    private const int Parts = 4;

    private readonly BufferPool _pool = TestPools.Create(keep: 0);

    public void Dispose()
    {
        Assert.Equal(0, _pool.GetStatistics().Live);
        _pool.Dispose();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void A_message_of_several_parts_is_not_queued_in_part_and_stays_with_its_sender_whichever_allocation_fails(int good)
    {
        CountingOwner[] owners = [.. Enumerable.Range(0, Parts).Select(static i => new CountingOwner(Pattern(Large, i)))];
        using var message = new MessageBuilder(); // Its own buffer is of another pool.
        Array.ForEach(owners, owner => message.Add("header"u8).Add(owner, Large));
        using (var bench = new OutboundFixture(_pool, default))
        {
            bench.Append(Pattern(Large, 9));
            _pool.AllocateOnly(good);
            Assert.Equal(SendStatus.NoMemory, Append(bench, message));
            Assert.Equal(2 * Parts, message.Count);
            Assert.All(owners, static owner => Assert.Equal(0, owner.Disposals));

            _pool.Allocating = null;
            Assert.Equal(SendStatus.Accepted, Append(bench, message));
            Assert.Equal(0, message.Count);
            bench.WriteAll();
            Assert.Equal(2, bench.Queue.Counts.TakenMessages);
            int whole = Parts * (Large + "header"u8.Length + (2 * ZmpFrame.HeaderSize));
            Assert.Equal(OutboundFixture.Frame(Pattern(Large, 9)).Length + whole, bench.Wire.Count);
        }

        Assert.All(owners, static owner => Assert.Equal(1, owner.Disposals));
    }

    [Fact]
    public void A_small_message_leaves_the_segment_before_it_open_when_a_part_behind_it_has_no_memory()
    {
        var owner = new CountingOwner(Pattern(Large, 1));
        using var message = new MessageBuilder();
        message.Add("header"u8).Add(owner, Large).Add(Pattern(5_000, 2));
        using var bench = new OutboundFixture(_pool, default);
        bench.Append([1, 2, 3]);
        _pool.AllocateOnly(0);
        Assert.Equal(SendStatus.NoMemory, Append(bench, message));
        Assert.Equal(SendStatus.Accepted, bench.Append([4, 5, 6])); // It fits behind the first.
        bench.WriteAll();
        Assert.Equal([.. OutboundFixture.Frame([1, 2, 3]), .. OutboundFixture.Frame([4, 5, 6])], bench.Wire);
        Assert.Equal(0, owner.Disposals);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(Large)]
    public void The_message_that_a_conflating_queue_holds_stays_when_there_is_no_memory_for_a_newer_one(int length)
    {
        using var bench = new OutboundFixture(_pool, default)
        {
            Queue = new OutboundQueue(_pool, StreamFraming.Format, default) { Conflates = true },
        };
        bench.Append(Pattern(length, 1));
        _pool.AllocateOnly(0);
        Assert.Equal(SendStatus.NoMemory, bench.Append(Pattern(length, 2)));
        _pool.Allocating = null;
        bench.WriteAll();
        Assert.Equal(OutboundFixture.Frame(Pattern(length, 1)), bench.Wire);
        Assert.Equal(0, bench.Queue.Counts.DroppedMessages);
    }

    [Fact]
    public async Task A_send_that_waits_ends_with_the_reason_when_its_turn_comes_and_there_is_no_memory()
    {
        using var bench = new OutboundFixture(_pool, new QueueLimits(1, 0));
        bench.Append([1]);
        Task<SendStatus> waiting = bench.AppendOrWait(Pattern(Large, 1)).Wait!;
        _pool.AllocateOnly(0);
        bench.WriteOne();
        Assert.Equal(SendStatus.NoMemory, await waiting);
        bench.WriteAll();
        Assert.Equal(OutboundFixture.Frame([1]), bench.Wire);
    }

    [Fact]
    public void Messages_behind_a_loss_are_dropped_and_counted_when_there_is_no_memory_to_keep_them()
    {
        using var bench = new OutboundFixture(_pool, default, format: ZmpFrame.Format);
        Append(bench, [1]);
        Append(bench, [2]);
        Append(bench, Pattern(Large, 3)); // In a segment of its own, which stays.
        OutboundSegment writing = bench.BeginWrite()!;
        writing.Sent = writing.Exposed = 2; // Some bytes of the first message.
        _pool.AllocateOnly(0);
        bench.Queue.Detach();
        bench.ReleaseWriting();
        QueueCounts counts = bench.Queue.Counts;
        Assert.Equal((2, 1), (counts.DroppedMessages, counts.QueuedMessages));
        _pool.Allocating = null;
        bench.Queue.Release();
        bench.WriteAll();
        Assert.Equal(ZmpFrame.HeaderSize + Large, bench.Wire.Count);
        Assert.Equal(Pattern(Large, 3), bench.Wire[ZmpFrame.HeaderSize..]);
        Assert.Equal((2, 1, 0L), (bench.Queue.Counts.DroppedMessages, bench.Queue.Counts.TakenMessages, bench.Queue.Counts.QueuedBytes));
    }

    private static void Append(OutboundFixture bench, byte[] payload) => Assert.Equal(
        SendStatus.Accepted,
        bench.Queue.TryAppend(new OutgoingMessage(payload), out _));

    private static SendStatus Append(OutboundFixture bench, MessageBuilder message) =>
        bench.Queue.TryAppend(new OutgoingMessage(message.Encoded), out _);
}
