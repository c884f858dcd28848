using System.Diagnostics;
using Microsoft.Extensions.Logging.Abstractions;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Links;

/// <summary>Lanes of a context that is at its limit.</summary>
public sealed class LaneQuotaTests
{
    private const int KiB = 1024;

    private readonly string _text = new('x', 10 * KiB);

    [Fact]
    public async Task A_connection_that_was_stopped_for_the_context_is_read_again_when_another_lane_is_taken_from()
    {
        using TestCore core = TestCore.Create();
        TestLink hog = New(core, 64 * KiB, out ContextQuota quota);
        Fill(hog);
        var told = new TaskCompletionSource();
        TestLink other = TestLink.Create(core, default, quota: quota);
        other.OnRoom = () => told.TrySetResult();
        Fill(other);
        Assert.True(other.Lane.IsPaused);
        Assert.Equal((2, FullCause.Context), (other.Lane.Counts.QueuedMessages, other.Lane.FullCause));
        core.Receive.Drop(hog.Lane);
        await told.Task.Guarded();
        Assert.True(other.Lane.MayRead());
        core.Receive.Drop(other.Lane);
        Assert.Equal(0, quota.Used);
    }

    [Fact]
    public void A_connection_that_was_stopped_for_the_context_is_read_again_as_soon_as_its_messages_are_taken()
    {
        using TestCore core = TestCore.Create();
        TestLink pipe = New(core, 1, out _);
        Fill(pipe);
        Assert.Equal(_text, core.Receive.Take());
        Assert.Equal(0, pipe.Resumed);
        Assert.Equal(_text, core.Receive.Take());
        Assert.Equal(1, pipe.Resumed);
    }

    [Fact]
    public void A_reader_that_keeps_up_is_sent_to_whatever_others_hold()
    {
        using TestCore core = TestCore.Create();
        TestLink pipe = New(core, 1, out _);
        string large = new('y', 20 * KiB);
        for (int i = 0; i < 10; i++)
        {
            // Not looked at again before the next one comes.
            Assert.Equal(SendStatus.Accepted, pipe.Append(large));
            Assert.Equal(large, core.Receive.Take());
        }

        Assert.Equal(SendStatus.Accepted, pipe.Append(large));
        Assert.Equal(SendStatus.Full, pipe.Append(large));
        core.Receive.Drop(pipe.Lane);
    }

    [Fact]
    public void A_received_message_frees_its_bytes_in_the_context_limit_once()
    {
        using TestCore core = TestCore.Create();
        TestLink pipe = New(core, 1, out ContextQuota quota);
        string small = new('y', KiB);
        int all = AppendUntilFull(pipe, small);
        Take(core, small, 5);
        Assert.Equal(5, AppendUntilFull(pipe, small));
        Take(core, small, all - 5);
        Assert.Equal(all - 5, AppendUntilFull(pipe, small));
        Take(core, small, all);
        Assert.Null(core.Receive.Take());
        Assert.Equal(all, AppendUntilFull(pipe, small));
        core.Receive.Drop(pipe.Lane);
        Assert.Equal(0, quota.Used);
    }

    [Fact]
    public async Task A_sender_that_waits_for_the_context_continues_when_the_reader_has_left_enough()
    {
        using TestCore core = TestCore.Create();
        using TestCore others = TestCore.Create();
        TestLink pipe = New(core, 80 * KiB, out ContextQuota quota);
        string small = new('y', KiB);
        for (int i = 0; i < 60; i++)
        {
            Assert.Equal(SendStatus.Accepted, pipe.Append(small));
        }

        TestLink other = TestLink.Create(others, default, quota: quota);
        other.Publish(_text, _text);
        Assert.Equal(quota.Limit, quota.Used);
        int all = 60 + AppendUntilFull(pipe, small);
        Take(core, small, all / 2);
        Assert.InRange(AppendUntilFull(pipe, small), all / 2, all);
        Take(core, small, (all / 2) - 1);
        var told = new TaskCompletionSource();
        pipe.OnRoom = () => told.TrySetResult();
        others.Receive.Drop(other.Lane);
        await told.Task.Guarded();
        Assert.Equal(SendStatus.Accepted, pipe.Append(small));
        core.Receive.Drop(pipe.Lane);
        Assert.Equal(0, quota.Used);
    }

    [Fact]
    public void A_sender_that_is_refused_while_the_last_message_is_taken_is_told_of_room()
    {
        const int Rounds = 20_000; // A second on a machine with nothing else to do; on a busy one as many as there is time for.
        var patience = TimeSpan.FromSeconds(5);
        long started = Stopwatch.GetTimestamp();
        bool goesOn = true;
        using TestCore core = TestCore.Create();
        TestLink pipe = New(core, 1, out _);
        string large = new('y', 20 * KiB);
        int notYetSent = 0;
        SendStatus second = default;
        using var both = new Barrier(2);
        InParallel(
            () =>
            {
                for (int i = 0; i < Rounds && goesOn; i++)
                {
                    pipe.Append(large);
                    int told = pipe.Resumed;
                    both.SignalAndWait();
                    second = pipe.Append(large);
                    both.SignalAndWait();
                    notYetSent += second == SendStatus.Full && pipe.Resumed == told ? 1 : 0;
                    goesOn = Stopwatch.GetElapsedTime(started) < patience;
                    both.SignalAndWait();
                    both.SignalAndWait();
                }
            },
            () =>
            {
                for (int i = 0; i < Rounds && goesOn; i++)
                {
                    both.SignalAndWait();
                    Thread.SpinWait(i % 32); // At every moment of the other's.
                    Assert.Equal(large, core.Receive.Take());
                    both.SignalAndWait();
                    both.SignalAndWait();
                    while (core.Receive.Take() is not null)
                    {
                        // Until it is empty.
                    }

                    both.SignalAndWait();
                }
            });
        Assert.Equal(0, notYetSent);
    }

    [Fact]
    public void A_lane_that_was_refused_more_and_is_read_waits_no_longer_though_its_peer_has_gone()
    {
        using TestCore core = TestCore.Create();
        TestLink pipe = New(core, 1, out ContextQuota quota);
        Fill(pipe);
        Assert.Equal(1, quota.Waiting);
        pipe.Lane.Close();
        Assert.Equal(_text, core.Receive.Take());
        Assert.Equal(_text, core.Receive.Take());
        Assert.Equal(0, quota.Waiting);
    }

    [Fact]
    public void A_lane_that_is_read_gives_back_what_it_took_and_goes_on()
    {
        using TestCore core = TestCore.Create();
        TestLink pipe = New(core, 1024 * KiB, out ContextQuota quota);
        for (int round = 0; round < 3; round++)
        {
            for (int i = 0; i < 50; i++)
            {
                pipe.Publish(_text);
            }

            Assert.InRange(quota.Used, 400 * KiB, 1024 * KiB);
            for (int i = 0; i < 50; i++)
            {
                Assert.Equal(_text, core.Receive.Take());
            }

            Assert.Null(core.Receive.Take());
            Assert.Equal(0, quota.Used);
        }
    }

    [Fact]
    public void A_consumer_that_takes_no_more_leaves_little_counted_that_it_has_taken()
    {
        const int Batches = 4;
        const int BatchSize = 250;
        using TestCore core = TestCore.Create();
        TestLink pipe = New(core, 64 * 1024 * KiB, out ContextQuota quota);
        for (int i = 0; i < Batches; i++)
        {
            pipe.Publish([.. Enumerable.Repeat(_text, BatchSize)]);
        }

        Assert.InRange(quota.Used, Batches * BatchSize * 10 * KiB - (16 * KiB), 64 * 1024 * KiB);
        for (int i = 0; i < Batches * BatchSize; i++)
        {
            Assert.Equal(_text, core.Receive.Take());
        }

        // Taken and not reported are at most 2 MiB, of which twice as much may be kept.
        Assert.InRange(quota.Used, 0, 4 * 1024 * KiB);
        Assert.Null(core.Receive.Take());
        Assert.Equal(0, quota.Used);
    }

    [Fact]
    public async Task A_sender_to_a_name_that_nobody_has_bound_is_told_of_room_too()
    {
        ContextQuota quota = ContextQuota.Of(64 * KiB, NullLogger.Instance)!;
        using TestCore core = TestCore.Create();
        TestLink hog = TestLink.Create(core, default, quota: quota);
        Fill(hog);
        var told = new TaskCompletionSource();
        var lane = new InboundLane(default, quota) { SenderCanContinue = () => told.TrySetResult() };
        while (hog.Append(lane, new string('x', 10 * KiB)) == SendStatus.Accepted)
        {
            // Until it is full.
        }

        core.Receive.Drop(hog.Lane);
        await told.Task.Guarded();
        core.Receive.Drop(lane);
        Assert.Equal(0, quota.Used);
    }

    /// <summary>A lane of a context that has such a limit.</summary>
    private static TestLink New(TestCore core, long limit, out ContextQuota quota)
    {
        quota = ContextQuota.Of(limit, NullLogger.Instance)!;
        return TestLink.Create(core, default, quota: quota);
    }

    private static int AppendUntilFull(TestLink pipe, string text)
    {
        int count = 0;
        while (pipe.Append(text) == SendStatus.Accepted)
        {
            count++;
        }

        return count;
    }

    private static void Take(TestCore core, string text, int count)
    {
        for (int i = 0; i < count; i++)
        {
            Assert.Equal(text, core.Receive.Take());
        }
    }

    private void Fill(TestLink pipe)
    {
        while (pipe.Publish(_text))
        {
            // Until it is full.
        }
    }
}
