using Microsoft.Extensions.Logging.Abstractions;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Engine;

/// <summary>What all queues of a context may hold together.</summary>
public sealed class ContextQuotaTests
{
    private const int KiB = 1024;
    private const int Free = 16 * KiB; // What a queue may hold besides.
    private const int Size = 10 * KiB;

    [Fact]
    public void Queues_hold_no_more_together_than_the_limit_and_16_KiB_each()
    {
        ContextQuota quota = NewQuota(1024 * KiB);
        OutboundFixture[] all = [.. Enumerable.Range(0, 20).Select(_ => New(quota))];
        foreach (OutboundFixture bench in all)
        {
            Fill(bench);
        }

        Assert.InRange(all.Sum(static bench => bench.Queue.Counts.QueuedBytes), 1024 * KiB, 1024 * KiB + (all.Length * (Free + Size)));
        Assert.InRange(quota.Used, 1024 * KiB - Free, 1024 * KiB);
        Assert.All(all, static bench => Assert.True(bench.Queue.Counts.QueuedMessages >= 2, "Others' messages kept it from its own."));
        Assert.Equal(all.Length, quota.Waiting);
        Array.ForEach(all, static bench => bench.Dispose());
        Assert.Equal((0, 0), (quota.Used, quota.Waiting));
    }

    [Fact]
    public void A_message_of_any_size_enters_an_empty_queue_whatever_others_hold()
    {
        ContextQuota quota = NewQuota(64 * KiB);
        using OutboundFixture hog = New(quota);
        Fill(hog);
        using OutboundFixture other = New(quota);
        Assert.Equal(SendStatus.Accepted, other.Append(new byte[256 * KiB]));
        Assert.Equal((SendStatus.Full, FullCause.Context), (other.Append([1]), other.Queue.FullCause));
        other.WriteAll();
        Assert.Equal(SendStatus.Accepted, other.Append(new byte[256 * KiB]));
    }

    [Fact]
    public void Only_what_the_context_refuses_is_put_down_to_it()
    {
        ContextQuota quota = NewQuota(64 * KiB);
        using OutboundFixture hog = New(quota);
        Fill(hog);
        Assert.Equal(FullCause.Context, hog.Queue.FullCause);
        using var bytes = new OutboundFixture(TestPools.Create(), new QueueLimits(0, Size), quota);
        Fill(bytes);
        Assert.Equal((1, FullCause.Bytes), (bytes.Queue.Counts.QueuedMessages, bytes.Queue.FullCause));
        using var messages = new OutboundFixture(TestPools.Create(), new QueueLimits(1, 0), quota);
        Fill(messages);
        Assert.Equal((1, FullCause.Messages), (messages.Queue.Counts.QueuedMessages, messages.Queue.FullCause));
        hog.Queue.SetLimits(new QueueLimits(1, 0));
        Fill(hog);
        Assert.Equal(FullCause.Messages, hog.Queue.FullCause);
    }

    [Fact]
    public void A_queue_of_a_lower_limit_of_its_own_never_takes_more_than_that()
    {
        ContextQuota quota = NewQuota(1024 * KiB);
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(0, 40 * KiB), quota);
        Fill(bench);
        Assert.Equal((40 * KiB) - Free, quota.Used);
        Assert.Equal(FullCause.Bytes, bench.Queue.FullCause);
    }

    [Fact]
    public async Task A_queue_is_told_when_exactly_what_it_needs_has_come_back()
    {
        ContextQuota quota = NewQuota(64 * KiB);
        Assert.True(quota.TryReserve(64 * KiB));
        var share = new ContextShare(quota);
        var queue = new ToldQueue();
        Assert.False(share.TryGrow(64 * KiB, ownLimit: 0, queue));
        Assert.Equal(64 * KiB, share.Need);
        quota.GiveBack(64 * KiB);
        await queue.IsTold.Task.Guarded();
    }

    [Fact]
    public async Task A_send_that_waits_enters_once_another_queue_has_emptied()
    {
        ContextQuota quota = NewQuota(128 * KiB);
        using OutboundFixture hog = New(quota);
        Fill(hog);
        using OutboundFixture other = New(quota);
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
        ContextQuota quota = NewQuota(128 * KiB);
        using OutboundFixture hog = New(quota);
        Fill(hog);
        hog.BeginWrite();
        var told = new TaskCompletionSource();
        var queue = new OutboundQueue(TestPools.Create(), StreamFraming.Format, default, quota)
        {
            CapacityAvailable = () => told.TrySetResult(),
        };
        using var other = new OutboundFixture(TestPools.Create(), default, quota) { Queue = queue };
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
        ContextQuota quota = NewQuota(Waiting * 32 * KiB);
        using OutboundFixture hog = New(quota);
        Fill(hog);
        OutboundFixture[] all = [.. Enumerable.Range(0, Waiting).Select(_ => New(quota))];
        var waits = new List<Task<SendStatus>>();
        foreach (OutboundFixture bench in all)
        {
            Fill(bench);
            waits.Add(bench.AppendOrWait(new byte[Size]).Wait!);
        }

        hog.WriteAll();
        Assert.All(await Task.WhenAll(waits).Guarded(), static status => Assert.Equal(SendStatus.Accepted, status));
        Array.ForEach(all, static bench => bench.Dispose());
        Assert.Equal(0, quota.Used);
    }

    [Fact]
    public async Task A_queue_that_needs_little_is_served_behind_many_that_need_more_than_is_left()
    {
        const int Large = 1024 * KiB;
        ContextQuota quota = NewQuota(256 * KiB);
        using OutboundFixture hog = New(quota);
        Fill(hog);
        OutboundFixture[] all = [.. Enumerable.Range(0, 300).Select(_ => New(quota))];
        foreach (OutboundFixture bench in all)
        {
            Assert.Equal(SendStatus.Accepted, bench.Append(new byte[Large]));
            Assert.Equal(SendStatus.Full, bench.AppendOrWait([1]).Status);
        }

        using OutboundFixture last = New(quota);
        Fill(last);
        Task<SendStatus> wait = last.AppendOrWait(new byte[Size]).Wait!;
        hog.WriteAll();
        Assert.Equal(SendStatus.Accepted, await wait.Guarded());
        Assert.Equal(all.Length, quota.Waiting);
        Array.ForEach(all, static bench => bench.Dispose());
        Assert.Equal(0, quota.Waiting);
    }

    [Fact]
    public async Task Many_that_were_refused_once_and_want_nothing_any_more_hold_up_nobody()
    {
        ContextQuota quota = NewQuota(256 * KiB);
        using OutboundFixture hog = New(quota);
        Fill(hog);
        OutboundFixture[] all = [.. Enumerable.Range(0, 200).Select(_ => New(quota))];
        Array.ForEach(all, Fill);
        using OutboundFixture last = New(quota);
        Fill(last);
        Task<SendStatus> wait = last.AppendOrWait(new byte[Size]).Wait!;
        hog.WriteAll();
        Assert.Equal(SendStatus.Accepted, await wait.Guarded());
        Array.ForEach(all, static bench => bench.WriteAll());
        Assert.Equal(0, quota.Waiting);
        Array.ForEach(all, static bench => bench.Dispose());
    }

    [Fact]
    public void A_batch_for_a_queue_that_has_ended_takes_nothing()
    {
        ContextQuota quota = NewQuota(256 * KiB);
        using OutboundFixture bench = New(quota);
        Slab slab = bench.Slabs.Rent(4 * Size);
        Assert.Equal(SendStatus.Accepted, bench.Queue.TryAppendShared(slab, 0, 4 * Size, messages: 4, out _));
        bench.Queue.Abandon();
        Assert.Equal(SendStatus.Closed, bench.Queue.TryAppendShared(slab, 0, 4 * Size, messages: 4, out _));
        slab.Release();
        Assert.Equal((0, 0), (quota.Used, quota.Waiting));
    }

    [Fact]
    public async Task A_send_refused_by_the_context_limit_keeps_that_cause_when_there_is_capacity_again()
    {
        ContextQuota quota = NewQuota(128 * KiB);
        using OutboundFixture hog = New(quota);
        Fill(hog);
        var told = new TaskCompletionSource();
        var queue = new OutboundQueue(TestPools.Create(), StreamFraming.Format, default, quota)
        {
            CapacityAvailable = () => told.TrySetResult(),
        };
        using var other = new OutboundFixture(TestPools.Create(), default, quota) { Queue = queue };
        Fill(other);
        hog.WriteAll();
        await told.Task.Guarded();
        Assert.Equal(FullCause.Context, other.Queue.FullCause);
    }

    [Fact]
    public void Bytes_that_a_queue_reserved_at_its_peak_are_released_when_others_need_them()
    {
        ContextQuota quota = NewQuota(1024 * KiB);
        using OutboundFixture high = New(quota);
        Assert.All(Enumerable.Range(0, 90), _ => Assert.Equal(SendStatus.Accepted, high.Append(new byte[Size])));
        while (high.Queue.Counts.QueuedBytes > 500 * KiB)
        {
            high.WriteOne();
        }

        using OutboundFixture other = New(quota);
        Fill(other);
        long before = quota.Used;
        high.WriteOne();
        Assert.InRange(quota.Used, 0, before - (100 * KiB));
    }

    [Fact]
    public async Task Waiting_queues_are_all_served_when_many_reserve_and_release_at_once()
    {
        const int Queues = 12;
        const int Rounds = 100;
        ContextQuota quota = NewQuota(160 * KiB);
        await Task.WhenAll(Enumerable.Range(0, Queues).Select(q => Task.Run(async () =>
        {
            using OutboundFixture bench = New(quota);
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

            Assert.Equal(2 * Rounds, bench.Queue.Counts.TakenMessages);
        }))).Guarded();
        Assert.Equal((0, 0), (quota.Used, quota.Waiting));
    }

    private static ContextQuota NewQuota(long limit) => ContextQuota.Of(limit, NullLogger.Instance)!;

    private static OutboundFixture New(ContextQuota quota) => new(TestPools.Create(), default, quota);

    private static void Fill(OutboundFixture bench)
    {
        while (bench.Append(new byte[Size]) == SendStatus.Accepted)
        {
            // Until it is full.
        }
    }

    private sealed class ToldQueue : IQuotaOwner
    {
        public TaskCompletionSource IsTold { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void OnQuotaAvailable() => IsTold.TrySetResult();
    }
}
