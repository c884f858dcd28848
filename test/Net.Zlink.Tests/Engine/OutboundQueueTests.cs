using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

public sealed class OutboundQueueTests
{
    private const int Large = OutgoingMessage.LargePayload;

    [Fact]
    public void The_limit_in_messages_holds_at_its_exact_edge()
    {
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(3, 0));
        Assert.Equal([SendStatus.Accepted, SendStatus.Accepted, SendStatus.Accepted, SendStatus.Full],
            Enumerable.Range(0, 4).Select(i => bench.Append([(byte)i])));
        Assert.Equal(SendStatus.Full, bench.Queue.Status);
        Assert.Equal(SendStatus.Full, bench.AppendShared([9]));
        Assert.Equal(SendStatus.Full, bench.Append(new byte[Large]));
        bench.WriteAll();
        Assert.Equal(SendStatus.Accepted, bench.Append([4]));
    }

    [Fact]
    public void The_limit_in_bytes_counts_headers_and_is_reached_not_passed()
    {
        // 10 bytes of payload make 14 on the wire: below 28 there is room for one more, at 28 there is none.
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(0, 28));
        Assert.Equal(SendStatus.Accepted, bench.Append(new byte[10]));
        Assert.Equal(SendStatus.Accepted, bench.Append(new byte[10]));
        Assert.Equal(SendStatus.Full, bench.Append([]));

        using var loose = new OutboundFixture(TestPools.Create(), new QueueLimits(0, 29));
        Assert.Equal(SendStatus.Accepted, loose.Append(new byte[10]));
        Assert.Equal(SendStatus.Accepted, loose.Append(new byte[10]));
        Assert.Equal(SendStatus.Accepted, loose.Append(new byte[10]));
        Assert.Equal(SendStatus.Full, loose.Append([]));
    }

    [Fact]
    public void An_empty_outbound_queue_takes_a_message_of_any_size_and_a_queue_without_limits_takes_all()
    {
        using var tight = new OutboundFixture(TestPools.Create(), new QueueLimits(1, 1));
        Assert.Equal(SendStatus.Accepted, tight.Append(new byte[3 * Large]));
        Assert.Equal(SendStatus.Full, tight.Append([]));
        tight.WriteAll();
        Assert.Equal(SendStatus.Accepted, tight.Append([]));

        using var open = new OutboundFixture(TestPools.Create(), new QueueLimits(0, 0));
        Assert.All(Enumerable.Range(0, 5_000), _ => Assert.Equal(SendStatus.Accepted, open.Append([1])));
        Assert.Equal(5_000, open.Queue.Counts.QueuedMessages);
    }

    [Fact]
    public void The_write_turn_goes_to_one_append_until_the_queue_is_empty()
    {
        using var bench = new OutboundFixture(TestPools.Create(), default);
        bench.Queue.TryAppend(new OutgoingMessage([1]), out bool first);
        bench.Queue.TryAppend(new OutgoingMessage([2]), out bool second);
        bench.Queue.TryAppend(new OutgoingMessage(new byte[Large]), out bool third);
        Assert.Equal((true, false, false), (first, second, third));
        Assert.False(bench.Queue.TryAcquireFlush());
        bench.WriteAll();
        Assert.True(bench.Queue.TryAcquireFlush());
        bench.Queue.TryAppend(new OutgoingMessage([1]), out bool whileHeld);
        Assert.False(whileHeld);
        bench.WriteAll();
    }

    [Fact]
    public async Task A_new_sender_does_not_overtake_waiting_senders()
    {
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(1, 0));
        bench.Append([0]);
        Task<SendStatus> first = bench.AppendOrWait([1]).Wait!;
        Task<SendStatus> second = bench.AppendOrWait([2]).Wait!;
        Assert.Equal(SendStatus.Full, bench.Append([9]));
        bench.WriteOne(); // Lets the first in.
        Assert.Equal(SendStatus.Accepted, await first.WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.False(second.IsCompleted);
        Assert.Equal(SendStatus.Full, bench.Append([9]));
        bench.WriteOne();
        Assert.Equal(SendStatus.Accepted, await second.WaitAsync(Patience, TestContext.Current.CancellationToken));
        bench.WriteAll();
        Assert.Equal([0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 2], bench.Wire);
    }

    [Fact]
    public async Task A_cancelled_wait_sends_nothing_and_lets_the_next_in()
    {
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(1, 0));
        bench.Append([0]);
        using var source = new CancellationTokenSource();
        Task<SendStatus> cancelled = bench.AppendOrWait([1], cancel: source).Wait!;
        Task<SendStatus> next = bench.AppendOrWait([2]).Wait!;
        await source.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        bench.WriteAll();
        Assert.Equal(SendStatus.Accepted, await next.WaitAsync(Patience, TestContext.Current.CancellationToken));
        bench.WriteAll();
        Assert.Equal([0, 0, 0, 1, 0, 0, 0, 0, 1, 2], bench.Wire);
    }

    [Fact]
    public async Task Closing_refuses_those_who_wait_and_keeps_what_was_accepted()
    {
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(1, 0));
        bench.Append([7]);
        Task<SendStatus>[] waits = [bench.AppendOrWait([1]).Wait!, bench.AppendOrWait([2]).Wait!];
        bench.Queue.Close();
        Assert.Equal([SendStatus.Closed, SendStatus.Closed],
            await Task.WhenAll(waits).WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.Equal(SendStatus.Closed, bench.Append([3]));
        Assert.Equal(SendStatus.Closed, bench.Append(new byte[Large]));
        Assert.Equal(SendStatus.Closed, bench.AppendShared([3]));
        Assert.Equal(SendStatus.Closed, bench.AppendOrWait([3]).Status);
        bench.WriteAll();
        Assert.Equal([0, 0, 0, 1, 7], bench.Wire);
    }

    [Fact]
    public void Payloads_of_every_size_class_and_kind_come_out_in_order()
    {
        using var bench = new OutboundFixture(TestPools.Create(), default);
        List<byte> expected = [];
        int seed = 0;
        foreach (int length in (int[])[0, 1, 1_020, 1_021, Large - 5, Large - 4, Large - 1, Large, Large + 1, 65_532, 65_533, 300_000,
            2_000_000, 3])
        {
            byte[] payload = Pattern(length, seed++);
            Assert.Equal(SendStatus.Accepted, bench.Append(payload));
            Assert.Equal(SendStatus.Accepted, bench.AppendShared(payload));
            Assert.Equal(SendStatus.Accepted, bench.AppendOrWait(payload).Status);
            Assert.Equal(SendStatus.Accepted, bench.AppendOrWait(payload, new CountingOwner([.. payload])).Status);
            for (int copy = 0; copy < 4; copy++)
            {
                expected.AddRange(OutboundFixture.Frame(payload));
            }
        }

        QueueCounts before = bench.Queue.Counts;
        Assert.Equal((56, expected.Count), (before.QueuedMessages, before.QueuedBytes));
        bench.WriteAll();
        Assert.True(expected.SequenceEqual(bench.Wire));
        Assert.Equal(0, bench.Pool.GetStatistics().Live);
        QueueCounts after = bench.Queue.Counts;
        Assert.Equal((0, 0, 56, expected.Count), (after.QueuedMessages, after.QueuedBytes, after.TakenMessages, after.TakenBytes));
    }

    [Fact]
    public void Small_headers_of_donated_payloads_do_not_hold_large_buffers()
    {
        using var bench = new OutboundFixture(TestPools.Create(), default);
        for (int i = 0; i < 100; i++)
        {
            byte[] payload = new byte[Large];
            bench.AppendOrWait(payload, new CountingOwner(payload));
        }

        Assert.InRange(bench.Pool.GetStatistics().BytesRented, 100, 100 * 128);
    }

    [Theory]
    [InlineData(4, 1000, true)]
    [InlineData(4, 90, false)] // Too short to be referred to: copied, and so is what follows.
    public void Runs_that_lie_behind_one_another_become_one_segment(int runs, int payload, bool isReferredTo)
    {
        BufferPool pool = TestPools.Create();
        using (var bench = new OutboundFixture(pool, default))
        {
            byte[] frames = [.. Enumerable.Range(0, runs * 5)
                .SelectMany(i => OutboundFixture.Frame([.. Enumerable.Repeat((byte)i, payload)]))];
            Slab slab = bench.Slabs.Rent(frames.Length);
            frames.CopyTo(slab.Array, 0);
            int length = frames.Length / runs;
            long before = pool.GetStatistics().BytesRented;
            for (int i = 0; i < runs; i++)
            {
                Assert.Equal(SendStatus.Accepted, bench.Queue.TryAppendShared(slab, i * length, length, 5, out _));
            }

            Assert.Equal(isReferredTo, pool.GetStatistics().BytesRented == before);
            slab.Release();
            Assert.Equal((runs * 5, frames.Length), bench.WriteOne());
            Assert.Null(bench.WriteOne());
            Assert.Equal(frames, bench.Wire);
            Assert.Equal(runs * 5, bench.Queue.Counts.TakenMessages);
        }

        Assert.Equal(0, pool.GetStatistics().BytesRented);
    }

    [Fact]
    public void A_run_that_comes_while_the_one_before_it_is_written_is_a_segment_of_its_own()
    {
        using var bench = new OutboundFixture(TestPools.Create(), default);
        byte[] frames = [.. Enumerable.Range(0, 20).SelectMany(static i => OutboundFixture.Frame([.. Enumerable.Repeat((byte)i, 1000)]))];
        Slab slab = bench.Slabs.Rent(frames.Length);
        frames.CopyTo(slab.Array, 0);
        int half = frames.Length / 2;
        Assert.Equal(SendStatus.Accepted, bench.Queue.TryAppendShared(slab, 0, half, 10, out _));
        bench.BeginWrite();
        Assert.Equal(SendStatus.Accepted, bench.Queue.TryAppendShared(slab, half, half, 10, out _));
        slab.Release();
        Assert.Equal((10, half), bench.WriteOne());
        Assert.Equal((10, half), bench.WriteOne());
        Assert.Equal(frames, bench.Wire);
    }

    [Theory]
    [InlineData(9, false)]
    [InlineData(10, true)]
    public void A_run_enters_whole_or_not_at_all(int limit, bool fits)
    {
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(limit, 0));
        Assert.Equal(SendStatus.Accepted, bench.Append([1]));
        byte[] frames = [.. Enumerable.Range(0, 9).SelectMany(static i => OutboundFixture.Frame([(byte)i]))];
        Slab slab = bench.Slabs.Rent(frames.Length);
        frames.CopyTo(slab.Array, 0);
        Assert.Equal(fits ? SendStatus.Accepted : SendStatus.Full, bench.Queue.TryAppendShared(slab, 0, frames.Length, 9, out _));
        slab.Release();
        Assert.Equal(fits ? 10 : 1, bench.Queue.Counts.QueuedMessages);
    }

    [Fact]
    public void A_control_frame_does_not_come_into_the_middle_of_a_frame()
    {
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(0, 0));
        Assert.Equal(SendStatus.Accepted, bench.AppendOrWait(new byte[Large], new CountingOwner(new byte[Large])).Status);
        OutboundSegment header = bench.Queue.NextToWrite(several: false)!;
        Assert.True(header.EndsMidFrame);
        Assert.True(bench.Queue.TryAppendControl([1, 2, 3]));
        OutboundSegment body = bench.Queue.Written(header, several: false)!;
        Assert.False(body.IsControl);
        OutboundSegment control = bench.Queue.Written(body, several: false)!;
        Assert.True(control.IsControl);
        Assert.Null(bench.Queue.Written(control, several: false));
    }

    [Fact]
    public void Abandoning_returns_every_array_and_counts_what_was_not_written()
    {
        using BufferPool pool = TestPools.Create(leakCheck: true);
        var bench = new OutboundFixture(pool, default);
        byte[] large = Pattern(Large, 1);
        bench.Append([1]);
        bench.Append(large);
        bench.WriteOne();
        bench.BeginWrite();
        bench.AppendShared(large);
        bench.AppendOrWait(large, new CountingOwner(large));
        bench.Append(new byte[100]);
        Assert.NotEmpty(pool.GetOutstanding());
        bench.Queue.Abandon();

        // What is in flight may still be read by the system.
        Assert.Single(pool.GetOutstanding());
        bench.ReleaseWriting();
        Assert.Empty(pool.GetOutstanding());
        QueueCounts counts = bench.Queue.Counts;
        Assert.Equal((5, 1, 4, 0), (counts.AcceptedMessages, counts.TakenMessages, counts.DroppedMessages, counts.QueuedMessages));
        Assert.Equal(counts.AcceptedBytes, counts.TakenBytes + counts.DroppedBytes);
    }

    [Fact]
    public void Appending_and_writing_allocates_nothing_in_steady_state()
    {
        using var bench = new OutboundFixture(TestPools.Create(), new QueueLimits(1_000, 0));
        byte[] small = new byte[64];
        byte[] large = new byte[Large];
        int rounds = 0;
        long allocated = Allocations.Of(
            () =>
            {
                rounds++;
                for (int m = 0; m < 100; m++)
                {
                    bench.Queue.TryAppend(new OutgoingMessage(small), out _);
                }

                bench.Queue.TryAppend(new OutgoingMessage(large), out _);
                OutboundSegment? segment = bench.Queue.NextToWrite(several: true);
                while (segment is not null)
                {
                    segment = bench.Queue.Written(segment, several: true);
                }
            },
            rounds: 100);
        Assert.Equal(0, allocated);
        Assert.Equal(rounds * 101, bench.Queue.Counts.TakenMessages);
    }

    [Fact]
    public void Many_senders_and_one_writer_lose_nothing_and_keep_each_senders_order()
    {
        const int Senders = 4;
        const int PerSender = 1_000;
        using BufferPool pool = TestPools.Create();
        using var bench = new OutboundFixture(pool, new QueueLimits(50, 20_000));
        int done = 0;
        byte[] Payload(int sender, int number) =>
            [(byte)sender, .. BitConverter.GetBytes(number), .. new byte[number % 97 == 0 ? Large : number % 61]];
        void Send(int sender)
        {
            for (int i = 0; i < PerSender; i++)
            {
                byte[] payload = Payload(sender, i);
                while (i % 3 == 0 && bench.Append(payload) is SendStatus.Full)
                {
                    Thread.Yield();
                }

                if (i % 3 != 0)
                {
                    (SendStatus status, Task<SendStatus>? wait) =
                        bench.AppendOrWait(payload, i % 3 == 1 ? new CountingOwner(payload) : null);
                    Assert.Equal(SendStatus.Accepted, wait is null ? status : AwaitOnThread(wait));
                }
            }

            Interlocked.Increment(ref done);
        }

        void Write()
        {
            while (Volatile.Read(ref done) < Senders || bench.Queue.Counts.QueuedMessages > 0)
            {
                if (bench.WriteOne() is null)
                {
                    Thread.Yield();
                }
            }
        }

        InParallel([.. Enumerable.Range(0, Senders).Select<int, Action>(s => () => Send(s)), Write]);

        QueueCounts counts = bench.Queue.Counts;
        Assert.Equal((Senders * PerSender, Senders * PerSender, 0),
            (counts.AcceptedMessages, counts.TakenMessages, counts.QueuedMessages));
        var next = new int[Senders];
        ReadOnlySpan<byte> wire = bench.Wire.ToArray();
        while (!wire.IsEmpty)
        {
            int length = System.Buffers.Binary.BinaryPrimitives.ReadInt32BigEndian(wire);
            int sender = wire[4];
            int number = BitConverter.ToInt32(wire[5..]);
            Assert.Equal(next[sender]++, number);
            Assert.Equal(Payload(sender, number).Length, length);
            wire = wire[(4 + length)..];
        }

        Assert.All(next, n => Assert.Equal(PerSender, n));
        Assert.Equal(0, pool.GetStatistics().Live);
    }

    private static SendStatus AwaitOnThread(Task<SendStatus> task)
    {
        Assert.True(task.Wait(Patience, CancellationToken.None));
        return task.GetAwaiter().GetResult();
    }
}
