using Net.Zlink.Engine;
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
        ByteBudget budget = ByteBudget.Of(1024 * KiB)!;
        OutboundBench[] all = [.. Enumerable.Range(0, 20).Select(_ => New(budget))];
        foreach (OutboundBench bench in all)
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
        ByteBudget budget = ByteBudget.Of(64 * KiB)!;
        using OutboundBench hog = New(budget);
        Fill(hog);
        using OutboundBench other = New(budget);
        Assert.Equal(SendStatus.Accepted, other.Append(new byte[256 * KiB]));
        Assert.Equal((SendStatus.Full, FullCause.Context), (other.Append([1]), other.Queue.FullCause));
        other.WriteAll();
        Assert.Equal(SendStatus.Accepted, other.Append(new byte[256 * KiB]));
    }

    [Fact]
    public void Only_what_the_context_refuses_is_put_down_to_it()
    {
        ByteBudget budget = ByteBudget.Of(64 * KiB)!;
        using OutboundBench hog = New(budget);
        Fill(hog);
        Assert.Equal(FullCause.Context, hog.Queue.FullCause);
        using var bytes = new OutboundBench(TestPools.Create(), new QueueLimits(0, Size), budget);
        Fill(bytes);
        Assert.Equal((1, FullCause.Bytes), (bytes.Queue.Counts.QueuedMessages, bytes.Queue.FullCause));
        using var messages = new OutboundBench(TestPools.Create(), new QueueLimits(1, 0), budget);
        Fill(messages);
        Assert.Equal((1, FullCause.Messages), (messages.Queue.Counts.QueuedMessages, messages.Queue.FullCause));
        hog.Queue.SetLimits(new QueueLimits(1, 0));
        Fill(hog);
        Assert.Equal(FullCause.Messages, hog.Queue.FullCause);
    }

    [Fact]
    public void A_queue_of_a_lower_limit_of_its_own_never_takes_more_than_that()
    {
        ByteBudget budget = ByteBudget.Of(1024 * KiB)!;
        using var bench = new OutboundBench(TestPools.Create(), new QueueLimits(0, 40 * KiB), budget);
        Fill(bench);
        Assert.Equal((40 * KiB) - Free, budget.Used);
        Assert.Equal(FullCause.Bytes, bench.Queue.FullCause);
    }

    [Fact]
    public async Task A_send_that_waits_enters_once_another_queue_has_emptied()
    {
        ByteBudget budget = ByteBudget.Of(128 * KiB)!;
        using OutboundBench hog = New(budget);
        Fill(hog);
        using OutboundBench other = New(budget);
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
        ByteBudget budget = ByteBudget.Of(128 * KiB)!;
        using OutboundBench hog = New(budget);
        Fill(hog);
        hog.BeginWrite();
        var told = new TaskCompletionSource();
        using var other = new OutboundBench(TestPools.Create(), default, budget) { Queue = new OutboundQueue(TestPools.Create(), default, budget) { RoomAgain = told.SetResult } };
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
    public async Task All_that_wait_get_on_when_one_gives_back_enough_for_all()
    {
        const int Waiting = 300; // Several turns of telling.
        ByteBudget budget = ByteBudget.Of(Waiting * 32 * KiB)!;
        using OutboundBench hog = New(budget);
        Fill(hog);
        OutboundBench[] all = [.. Enumerable.Range(0, Waiting).Select(_ => New(budget))];
        var waits = new List<Task<SendStatus>>();
        foreach (OutboundBench bench in all)
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
    public async Task Nobody_is_forgotten_where_many_take_and_give_back_at_once()
    {
        const int Queues = 12;
        const int Messages = 60;
        ByteBudget budget = ByteBudget.Of(96 * KiB)!;
        await Task.WhenAll(Enumerable.Range(0, Queues).Select(_ => Task.Run(async () =>
        {
            using OutboundBench bench = New(budget);
            bool isOver = false;
            Task writer = Task.Run(async () =>
            {
                while (!Volatile.Read(ref isOver))
                {
                    bench.WriteOne();
                    await Task.Yield();
                }

                bench.WriteAll();
            });
            for (int i = 0; i < Messages; i++)
            {
                // Two sizes: such as fill what a queue has besides in one step, and such as do not.
                (SendStatus status, Task<SendStatus>? wait) = bench.AppendOrWait(new byte[i % 3 == 0 ? 3 * Size : Size]);
                Assert.Equal(SendStatus.Accepted, wait is null ? status : await wait);
            }

            Volatile.Write(ref isOver, true);
            await writer;
            Assert.Equal(Messages, bench.Queue.Counts.WrittenMessages);
        }))).Guarded();
        Assert.Equal((0, 0), (budget.Used, budget.Waiting));
    }

    private static OutboundBench New(ByteBudget budget) => new(TestPools.Create(), default, budget);

    private static void Fill(OutboundBench bench)
    {
        while (bench.Append(new byte[Size]) == SendStatus.Accepted)
        {
            // Until it is full.
        }
    }
}
