using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Tests.Buffers;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>Who disposes the memory of a payload that was transferred to an outbound queue, and when.</summary>
public sealed class OutboundQueueOwnershipTests
{
    private const int Large = OutgoingMessage.LargePayload;

    [Theory]
    [InlineData(100)]
    [InlineData(Large)]
    public async Task A_donated_owner_is_disposed_exactly_once_by_the_queue_if_it_took_the_payload_and_not_at_all_otherwise(int length)
    {
        BufferPool pool = TestPools.Create();
        byte[] payload = Pattern(length, 1);

        // Accepted and written; accepted and abandoned; accepted, in flight and given back.
        var written = new CountingOwner(payload);
        using (var bench = new OutboundFixture(pool, default))
        {
            bench.AppendOrWait(payload, written);
            bench.WriteAll();
            Assert.Equal(1, written.Disposals);
        }

        var abandoned = new CountingOwner(payload);
        using (var bench = new OutboundFixture(pool, default))
        {
            bench.AppendOrWait(payload, abandoned);
        }

        var inFlight = new CountingOwner(payload);
        using (var bench = new OutboundFixture(pool, default))
        {
            bench.AppendOrWait(payload, inFlight);
            bench.BeginWrite();
            bench.WriteOne();
            bench.Queue.Abandon();
        }

        // Waited, then accepted; waited, then closed; waited, then cancelled; refused at once.
        var admitted = new CountingOwner(payload);
        var closed = new CountingOwner(payload);
        var cancelled = new CountingOwner(payload);
        var refused = new CountingOwner(payload);
        using (var bench = new OutboundFixture(pool, new QueueLimits(1, 0)))
        using (var source = new CancellationTokenSource())
        {
            bench.Append([0]);
            Task<SendStatus> first = bench.AppendOrWait(payload, admitted).Wait!;
            Task<SendStatus> second = bench.AppendOrWait(payload, cancelled, source).Wait!;
            Task<SendStatus> third = bench.AppendOrWait(payload, closed).Wait!;
            await source.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => second);
            bench.WriteOne();
            Assert.Equal(SendStatus.Accepted, await first.WaitAsync(Patience, TestContext.Current.CancellationToken));
            bench.Queue.Close();
            Assert.Equal(SendStatus.Closed, await third.WaitAsync(Patience, TestContext.Current.CancellationToken));
            Assert.Equal(SendStatus.Closed, bench.AppendOrWait(payload, refused).Status);
            bench.WriteAll();
        }

        Assert.Equal([1, 1, 1, 1, 0, 0, 0], ((CountingOwner[])[written, abandoned, inFlight, admitted, closed, cancelled, refused])
            .Select(o => o.Disposals));
        Assert.Equal(0, pool.GetStatistics().Live);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(Large)]
    public async Task An_owners_dispose_may_use_the_queue_because_no_lock_is_held(int length)
    {
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(2, 0));
        byte[] payload = Pattern(length, 1);
        int statuses = 0;
        CountingOwner NewOwner() => new(payload)
        {
            // Another thread gets through: were the lock held here, it would wait for this thread for ever.
            OnDispose = () =>
            {
                InParallel(() => _ = bench.Queue.Status);
                statuses++;
            },
        };
        bench.AppendOrWait(payload, NewOwner());
        bench.Append([1]);
        Task<SendStatus> waiting = bench.AppendOrWait(payload, NewOwner()).Wait!;
        bench.WriteAll();
        Assert.Equal(SendStatus.Accepted, await waiting.WaitAsync(Patience, TestContext.Current.CancellationToken));
        bench.AppendOrWait(payload, NewOwner());
        bench.Queue.Abandon();
        Assert.Equal(3, statuses);
    }

    [Theory]
    [InlineData("short")]
    [InlineData("long")]
    [InlineData("shared")]
    [InlineData("handed over")]
    public void A_message_that_a_newer_one_replaces_is_released_outside_the_queues_lock(string newer)
    {
        using BufferPool pool = TestPools.Create();
        var queue = new OutboundQueue(pool, StreamFraming.Format, default) { Conflates = true };
        byte[] payload = Pattern(Large, 1);
        int statuses = 0;
        var owner = new CountingOwner(payload)
        {
            OnDispose = () =>
            {
                InParallel(() => _ = queue.Status);
                statuses++;
            },
        };
        queue.TryAppend(new OutgoingMessage(owner.Memory, owner), out _);
        switch (newer)
        {
            case "shared":
                Slab slab = new Slab.SlabCache(pool).Rent(Large);
                queue.TryAppendShared(slab, 0, Large, 1, out _);
                slab.Release();
                break;
            case "handed over":
                queue.TryAppend(new OutgoingMessage(payload, new CountingOwner(payload)), out _);
                break;
            default:
                byte[] copied = new byte[newer is "long" ? Large : 1];
                queue.TryAppend(new OutgoingMessage(copied), out _);
                break;
        }

        Assert.Equal((1, 1, 1), (statuses, queue.Counts.QueuedMessages, queue.Counts.DroppedMessages));
        queue.Abandon();
        Assert.Equal(0, pool.GetStatistics().Live);
    }

    [Fact]
    public void An_owner_whose_dispose_throws_disturbs_nobody()
    {
        using var bench = new OutboundFixture(TestPools.Create(), default);
        byte[] payload = Pattern(Large, 1);
        bench.AppendOrWait(payload, new CountingOwner(payload) { OnDispose = () => throw new FormatException() });
        bench.Append([1]);
        bench.WriteAll();
        Assert.Equal(payload.Length + 9, bench.Wire.Count);
        bench.AppendOrWait(payload, new CountingOwner(payload) { OnDispose = () => throw new FormatException() });
        bench.Append([1]);
        bench.Queue.Abandon();
        Assert.Equal(0, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public async Task A_payload_disposed_while_its_send_waits_fails_that_send_alone()
    {
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(1, 0));
        bench.Append([0]);
        var mistaken = new CountingOwner([1, 2, 3]);
        Task<SendStatus> bad = bench.AppendOrWait([1, 2, 3], mistaken).Wait!;
        Task<SendStatus> good = bench.AppendOrWait([5]).Wait!;
        ((IDisposable)mistaken).Dispose();
        bench.WriteOne();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => bad.WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.Equal(SendStatus.Accepted, await good.WaitAsync(Patience, TestContext.Current.CancellationToken));
        bench.WriteAll();
        Assert.Equal([0, 0, 0, 1, 0, 0, 0, 0, 1, 5], bench.Wire);
    }
}
