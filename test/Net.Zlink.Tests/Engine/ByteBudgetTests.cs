using Microsoft.Extensions.Logging.Abstractions;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Engine;

/// <summary>What all queues of a context may hold together.</summary>
public sealed class ByteBudgetTests
{
    private const int KiB = 1024;
    private const int Free = 16 * KiB; // What a queue may hold besides.
    private const int Size = 10 * KiB;

    [Fact]
    public void Queues_hold_no_more_together_than_the_limit_and_16_KiB_each()
    {
        ByteBudget budget = NewBudget(1024 * KiB);
        OutboundFixture[] all = [.. Enumerable.Range(0, 20).Select(_ => New(budget))];
        foreach (OutboundFixture bench in all)
        {
            Fill(bench);
        }

        Assert.InRange(all.Sum(static bench => bench.Queue.Counts.QueuedBytes), 1024 * KiB, 1024 * KiB + (all.Length * (Free + Size)));
        Assert.InRange(budget.Used, 1024 * KiB - Free, 1024 * KiB);
        Assert.All(all, static bench => Assert.True(bench.Queue.Counts.QueuedMessages >= 2, "Others' messages kept it from its own."));
        Assert.Equal(all.Length, budget.Waiting);
        Array.ForEach(all, static bench => bench.Dispose());
        Assert.Equal((0, 0), (budget.Used, budget.Waiting));
    }

    [Fact]
    public void A_message_of_any_size_enters_an_empty_queue_whatever_others_hold()
    {
        ByteBudget budget = NewBudget(64 * KiB);
        using OutboundFixture hog = New(budget);
        Fill(hog);
        using OutboundFixture other = New(budget);
        Assert.Equal(SendStatus.Accepted, other.Append(new byte[256 * KiB]));
        Assert.Equal((SendStatus.Full, FullCause.Context), (other.Append([1]), other.Queue.FullCause));
        other.WriteAll();
        Assert.Equal(SendStatus.Accepted, other.Append(new byte[256 * KiB]));
    }

    [Fact]
    public void Only_what_the_context_refuses_is_put_down_to_it()
    {
        ByteBudget budget = NewBudget(64 * KiB);
        using OutboundFixture hog = New(budget);
        Fill(hog);
        Assert.Equal(FullCause.Context, hog.Queue.FullCause);
        using var bytes = new OutboundFixture(TestPools.Create(), new QueueLimits(0, Size), budget);
        Fill(bytes);
        Assert.Equal((1, FullCause.Bytes), (bytes.Queue.Counts.QueuedMessages, bytes.Queue.FullCause));
        using var messages = new OutboundFixture(TestPools.Create(), new QueueLimits(1, 0), budget);
        Fill(messages);
        Assert.Equal((1, FullCause.Messages), (messages.Queue.Counts.QueuedMessages, messages.Queue.FullCause));
        hog.Queue.SetLimits(new QueueLimits(1, 0));
        Fill(hog);
        Assert.Equal(FullCause.Messages, hog.Queue.FullCause);
    }

    [Fact]
    public void A_queue_of_a_lower_limit_of_its_own_never_takes_more_than_that()
    {
        ByteBudget budget = NewBudget(1024 * KiB);
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(0, 40 * KiB), budget);
        Fill(bench);
        Assert.Equal((40 * KiB) - Free, budget.Used);
        Assert.Equal(FullCause.Bytes, bench.Queue.FullCause);
    }

    [Fact]
    public async Task A_queue_is_told_when_exactly_what_it_needs_has_come_back()
    {
        ByteBudget budget = NewBudget(64 * KiB);
        Assert.True(budget.TryReserve(64 * KiB));
        var share = new ByteShare(budget, new QueueLimits(0, 0));
        var queue = new ToldQueue();
        Assert.False(share.TryGrow(64 * KiB, queue));
        Assert.Equal(64 * KiB, share.Need);
        budget.GiveBack(64 * KiB);
        await queue.IsTold.Task.Guarded();
    }

    [Fact]
    public async Task A_send_that_waits_enters_once_another_queue_has_emptied()
    {
        ByteBudget budget = NewBudget(128 * KiB);
        using OutboundFixture hog = New(budget);
        Fill(hog);
        using OutboundFixture other = New(budget);
        Fill(other);
        (SendStatus status, Task<SendStatus>? wait) = other.AppendOrWait(new byte[Size]);
        Assert.Equal(SendStatus.Full, status);
        hog.WriteAll();
        Assert.Equal(SendStatus.Accepted, await wait!.Guarded());
    }

    [Theory]
    [InlineData("written")]
    [InlineData("dropped")]
    [InlineData("lost")]
    [InlineData("abandoned")]
    public async Task A_sender_that_was_refused_is_told_however_another_queue_gives_back(string how)
    {
        ByteBudget budget = NewBudget(128 * KiB);
        using OutboundFixture hog = New(budget);
        Fill(hog);
        hog.BeginWrite();
        var told = new TaskCompletionSource();
        var queue = new OutboundQueue(TestPools.Create(), StreamFormat.Instance, default, budget)
        {
            CapacityAvailable = () => told.TrySetResult(),
        };
        using var other = new OutboundFixture(TestPools.Create(), default, budget) { Queue = queue };
        Fill(other);
        switch (how)
        {
            case "written":
                hog.WriteAll();
                break;
            case "dropped":
                hog.Queue.DropQueued();
                hog.WriteAll(); // What had begun to leave.
                break;
            case "lost":
                hog.Queue.Detach();
                hog.ReleaseWriting();
                hog.Queue.DropQueued();
                break;
            default:
                hog.Queue.Abandon();
                break;
        }

        await told.Task.Guarded();
        Assert.Equal(SendStatus.Accepted, other.Append(new byte[Size]));
    }

    [Fact]
    public async Task Waiting_queues_are_all_served_when_one_releases_enough_for_all()
    {
        const int Waiting = 300; // Several turns of telling.
        ByteBudget budget = NewBudget(Waiting * 32 * KiB);
        using OutboundFixture hog = New(budget);
        Fill(hog);
        OutboundFixture[] all = [.. Enumerable.Range(0, Waiting).Select(_ => New(budget))];
        var waits = new List<Task<SendStatus>>();
        foreach (OutboundFixture bench in all)
        {
            Fill(bench);
            waits.Add(bench.AppendOrWait(new byte[Size]).Wait!);
        }

        hog.WriteAll();
        Assert.All(await Task.WhenAll(waits).Guarded(), static status => Assert.Equal(SendStatus.Accepted, status));
        Array.ForEach(all, static bench => bench.Dispose());
        Assert.Equal(0, budget.Used);
    }

    [Fact]
    public async Task A_queue_that_needs_little_is_served_behind_many_that_need_more_than_is_left()
    {
        const int Large = 1024 * KiB;
        ByteBudget budget = NewBudget(256 * KiB);
        using OutboundFixture hog = New(budget);
        Fill(hog);
        OutboundFixture[] all = [.. Enumerable.Range(0, 300).Select(_ => New(budget))];
        foreach (OutboundFixture bench in all)
        {
            Assert.Equal(SendStatus.Accepted, bench.Append(new byte[Large]));
            Assert.Equal(SendStatus.Full, bench.AppendOrWait([1]).Status);
        }

        using OutboundFixture last = New(budget);
        Fill(last);
        Task<SendStatus> wait = last.AppendOrWait(new byte[Size]).Wait!;
        hog.WriteAll();
        Assert.Equal(SendStatus.Accepted, await wait.Guarded());
        Assert.Equal(all.Length, budget.Waiting);
        Array.ForEach(all, static bench => bench.Dispose());
        Assert.Equal(0, budget.Waiting);
    }

    [Fact]
    public async Task Many_that_were_refused_once_and_want_nothing_any_more_hold_up_nobody()
    {
        ByteBudget budget = NewBudget(256 * KiB);
        using OutboundFixture hog = New(budget);
        Fill(hog);
        OutboundFixture[] all = [.. Enumerable.Range(0, 200).Select(_ => New(budget))];
        Array.ForEach(all, Fill);
        using OutboundFixture last = New(budget);
        Fill(last);
        Task<SendStatus> wait = last.AppendOrWait(new byte[Size]).Wait!;
        hog.WriteAll();
        Assert.Equal(SendStatus.Accepted, await wait.Guarded());
        Array.ForEach(all, static bench => bench.WriteAll());
        Assert.Equal(0, budget.Waiting);
        Array.ForEach(all, static bench => bench.Dispose());
    }

    [Fact]
    public void A_batch_for_a_queue_that_has_ended_takes_nothing()
    {
        ByteBudget budget = NewBudget(256 * KiB);
        using OutboundFixture bench = New(budget);
        Slab slab = bench.Slabs.Rent(4 * Size);
        Assert.Equal(SendStatus.Accepted, bench.Queue.TryAppendShared(slab, 0, 4 * Size, messages: 4, out _));
        bench.Queue.Abandon();
        Assert.Equal(SendStatus.Closed, bench.Queue.TryAppendShared(slab, 0, 4 * Size, messages: 4, out _));
        slab.Release();
        Assert.Equal((0, 0), (budget.Used, budget.Waiting));
    }

    [Fact]
    public async Task A_send_refused_by_the_context_limit_keeps_that_cause_when_there_is_capacity_again()
    {
        ByteBudget budget = NewBudget(128 * KiB);
        using OutboundFixture hog = New(budget);
        Fill(hog);
        var told = new TaskCompletionSource();
        var queue = new OutboundQueue(TestPools.Create(), StreamFormat.Instance, default, budget)
        {
            CapacityAvailable = () => told.TrySetResult(),
        };
        using var other = new OutboundFixture(TestPools.Create(), default, budget) { Queue = queue };
        Fill(other);
        hog.WriteAll();
        await told.Task.Guarded();
        Assert.Equal(FullCause.Context, other.Queue.FullCause);
    }

    [Fact]
    public void Bytes_that_a_queue_reserved_at_its_peak_are_released_when_others_need_them()
    {
        ByteBudget budget = NewBudget(1024 * KiB);
        using OutboundFixture high = New(budget);
        Assert.All(Enumerable.Range(0, 90), _ => Assert.Equal(SendStatus.Accepted, high.Append(new byte[Size])));
        while (high.Queue.Counts.QueuedBytes > 500 * KiB)
        {
            high.WriteOne();
        }

        using OutboundFixture other = New(budget);
        Fill(other);
        long before = budget.Used;
        high.WriteOne();
        Assert.InRange(budget.Used, 0, before - (100 * KiB));
    }

    [Fact]
    public async Task Waiting_queues_are_all_served_when_many_reserve_and_release_at_once()
    {
        const int Queues = 12;
        const int Rounds = 100;
        ByteBudget budget = NewBudget(160 * KiB);
        await Task.WhenAll(Enumerable.Range(0, Queues).Select(q => Task.Run(async () =>
        {
            using OutboundFixture bench = New(budget);
            for (int i = 0; i < Rounds; i++)
            {
                // The second one finds room only if the context has it: nothing is written before, so nobody else lets it in. What each
                // needs differs.
                int size = (2 + ((q + i) % 4)) * Size;
                Assert.Equal(SendStatus.Accepted, bench.Append(new byte[size]));
                (SendStatus status, Task<SendStatus>? wait) = bench.AppendOrWait(new byte[size]);
                Assert.Equal(SendStatus.Accepted, wait is null ? status : await wait);
                bench.WriteAll();
            }

            Assert.Equal(2 * Rounds, bench.Queue.Counts.WrittenMessages);
        }))).Guarded();
        Assert.Equal((0, 0), (budget.Used, budget.Waiting));
    }

    private static ByteBudget NewBudget(long limit) => ByteBudget.Of(limit, NullLogger.Instance)!;

    private static OutboundFixture New(ByteBudget budget) => new(TestPools.Create(), default, budget);

    private static void Fill(OutboundFixture bench)
    {
        while (bench.Append(new byte[Size]) == SendStatus.Accepted)
        {
            // Until it is full.
        }
    }

    private sealed class ToldQueue : IShareOwner
    {
        public TaskCompletionSource IsTold { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void OnBudgetAvailable() => IsTold.TrySetResult();
    }
}
