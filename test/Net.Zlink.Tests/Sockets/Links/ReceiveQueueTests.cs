using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Links;

public sealed class ReceiveQueueTests : IDisposable
{
    private readonly TestCore _core = TestCore.Create();

    private ReceiveQueue Queue => _core.Receive;

    public void Dispose() => _core.Dispose();

    [Fact]
    public void Peers_are_served_one_message_each_in_turn()
    {
        TestLink p0 = NewLink();
        TestLink p1 = NewLink();
        TestLink p2 = NewLink();
        p0.Publish("p0m0", "p0m1", "p0m2");
        p1.Publish("p1m0", "p1m1");
        Assert.Equal(["p0m0", "p1m0", "p0m1"], Queue.Take(3));
        p2.Publish("p2m0");
        Assert.Equal(["p1m1", "p0m2", "p2m0", "none"], Queue.Take(4));
    }

    [Fact]
    public void A_read_that_comes_later_is_behind_what_came_before_it_by_the_same_peer()
    {
        TestLink pipe = NewLink();
        pipe.Publish("1", "2");
        Assert.Equal("1", Queue.Take());
        pipe.Publish("3");
        Assert.Equal(SendStatus.Accepted, pipe.Append("4"));
        Assert.Equal(SendStatus.Accepted, pipe.Append(new string('5', OutgoingMessage.LargePayload)));
        pipe.Publish("6");
        Assert.Equal(["2", "3", "4", new string('5', OutgoingMessage.LargePayload), "6", "none"], Queue.Take(6));
    }

    [Fact]
    public async Task Waiting_receivers_are_served_in_the_order_in_which_they_began_to_wait()
    {
        TestLink pipe = NewLink();
        Task<DequeuedMessage>[] waits = [.. Enumerable.Range(0, 3).Select(_ => Queue.Wait())];
        Assert.DoesNotContain(waits, w => w.IsCompleted);
        pipe.Publish("a", "b");
        pipe.Publish("c", "d");
        DequeuedMessage[] dequeued = await Task.WhenAll(waits).WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal(["a", "b", "c"], dequeued.Select(t => t.End()), StringComparer.Ordinal);
        Assert.Equal("d", Queue.Take());
    }

    [Fact]
    public async Task A_cancelled_wait_takes_nothing_and_the_message_goes_to_the_next()
    {
        using var source = new CancellationTokenSource();
        TestLink pipe = NewLink();
        Task<DequeuedMessage> cancelled = Queue.WaitCancellable(source.Token);
        Task<DequeuedMessage> next = Queue.Wait();
        await source.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(Patience, TestContext.Current.CancellationToken));
        pipe.Publish("m");
        Assert.Equal("m", (await next.WaitAsync(Patience, TestContext.Current.CancellationToken)).End());
    }

    [Fact]
    public async Task Closing_ends_every_wait_and_every_later_call_with_the_error()
    {
        TestLink pipe = NewLink();
        Task<DequeuedMessage>[] waits = [Queue.Wait(), Queue.Wait()];
        Queue.Close(() => new FormatException());
        foreach (Task<DequeuedMessage> wait in waits)
        {
            await Assert.ThrowsAsync<FormatException>(() => wait.WaitAsync(Patience, TestContext.Current.CancellationToken));
        }

        pipe.Publish("too late");
        Assert.Throws<FormatException>(() => Queue.Take());
        Assert.Throws<FormatException>(() => Queue.DequeueMany(new DequeuedMessage[2]));
        Assert.Throws<FormatException>(() => Ignore(Queue.Wait()));
        Queue.Close(() => new InvalidOperationException());
        Assert.Throws<FormatException>(() => Queue.Take());
        Queue.Drop(pipe.Lane);
    }

    [Fact]
    public void Dropping_a_peer_ends_its_unread_messages_and_leaves_the_others()
    {
        TestLink gone = NewLink();
        TestLink stays = NewLink();
        gone.Publish("a", "b", "c");
        gone.Publish("d");
        stays.Publish("x", "y");
        Assert.Equal("a", Queue.Take());
        Queue.Drop(gone.Lane);
        gone.Publish("e");
        Assert.Equal(SendStatus.Closed, gone.Append("f"));
        Assert.Equal(["x", "y", "none"], Queue.Take(3));
        QueueCounts counts = gone.Lane.Counts;
        Assert.Equal((5, 1, 4, 0, 0),
            (counts.AcceptedMessages, counts.TakenMessages, counts.DroppedMessages, counts.QueuedMessages, counts.QueuedBytes));
    }

    [Fact]
    public void Of_a_closed_lane_what_is_there_stays_readable()
    {
        TestLink pipe = NewLink();
        pipe.Publish("a");
        pipe.Lane.Close();
        pipe.Publish("b");
        Assert.Equal(["a", "none"], Queue.Take(2));
        Assert.Equal((2, 1, 1), (pipe.Lane.Counts.AcceptedMessages, pipe.Lane.Counts.TakenMessages, pipe.Lane.Counts.DroppedMessages));
    }

    [Fact]
    public void Looking_whether_there_is_something_takes_nothing_and_says_so_exactly()
    {
        TestLink a = NewLink();
        TestLink b = NewLink();
        Assert.False(Queue.IsReadable);
        for (int round = 0; round < 3; round++)
        {
            a.Publish("a1", "a2");
            b.Publish("b1");
            for (int left = 3; left > 0; left--)
            {
                Assert.True(Queue.IsReadable);
                Assert.True(Queue.IsReadable);
                Assert.NotNull(Queue.Take());
            }

            Assert.False(Queue.IsReadable);
            Assert.Null(Queue.Take());
        }
    }

    [Fact]
    public void Many_are_taken_at_once_and_fairly()
    {
        TestLink p0 = NewLink();
        TestLink p1 = NewLink();
        p0.Publish("p0m0", "p0m1");
        p1.Publish("p1m0", "p1m1");
        var dequeued = new DequeuedMessage[10];
        Assert.Equal(3, Queue.DequeueMany(dequeued.AsSpan(0, 3)));
        Assert.Equal(1, Queue.DequeueMany(dequeued.AsSpan(3)));
        Assert.Equal(0, Queue.DequeueMany(dequeued.AsSpan(4)));
        Assert.Equal(["p0m0", "p1m0", "p0m1", "p1m1"], dequeued.Take(4).Select(t => t.End()), StringComparer.Ordinal);
    }

    [Fact]
    public async Task A_storm_of_cancellations_loses_no_message_and_takes_none_twice()
    {
        const int Messages = 2_000;
        TestLink pipe = NewLink();
        var received = new List<string>();
        using var done = new CancellationTokenSource();
        Task publishing = Task.Run(
            () =>
            {
                for (int i = 0; i < Messages; i++)
                {
                    pipe.Publish($"{i}");
                }
            },
            TestContext.Current.CancellationToken);
        while (received.Count < Messages)
        {
            using var source = new CancellationTokenSource();
            Task<DequeuedMessage> wait = Queue.WaitCancellable(source.Token);
            Task cancelling = received.Count % 2 == 0 ? source.CancelAsync() : Task.CompletedTask;
            try
            {
                received.Add((await wait.WaitAsync(Patience, TestContext.Current.CancellationToken)).End());
            }
            catch (OperationCanceledException)
            {
                Assert.Equal(0, received.Count % 2);
                if (Queue.Take() is { } text)
                {
                    received.Add(text);
                }
            }

            await cancelling;
        }

        await publishing.WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal(Enumerable.Range(0, Messages).Select(i => $"{i}"), received, StringComparer.Ordinal);
        Assert.Null(Queue.Take());
    }

    [Fact]
    public void Several_consumers_together_get_every_message_once_and_each_peers_in_order()
    {
        const int PerPipe = 3_000;
        TestLink[] links = [NewLink(), NewLink()];
        var taken = new List<string>[2];
        int left = PerPipe * links.Length;
        void Publish(int pipe)
        {
            for (int i = 0; i < PerPipe;)
            {
                int batch = Math.Min(1 + (i % 5), PerPipe - i);
                links[pipe].Publish([.. Enumerable.Range(i, batch).Select(n => $"{pipe}:{n}")]);
                i += batch;
            }
        }

        void Consume(int consumer)
        {
            taken[consumer] = [];
            while (Volatile.Read(ref left) > 0)
            {
                if (Queue.IsReadable && Queue.Take() is { } text)
                {
                    taken[consumer].Add(text);
                    Interlocked.Decrement(ref left);
                }
                else
                {
                    Thread.Yield();
                }
            }
        }

        InParallel(() => Publish(0), () => Publish(1), () => Consume(0), () => Consume(1));
        Assert.Equal(PerPipe * 2, taken.SelectMany(t => t).Distinct(StringComparer.Ordinal).Count());
        foreach (List<string> one in taken)
        {
            for (int pipe = 0; pipe < 2; pipe++)
            {
                int[] numbers = [.. one.Where(t => t.StartsWith($"{pipe}:", StringComparison.Ordinal))
                    .Select(t => int.Parse(t.AsSpan(2), System.Globalization.CultureInfo.InvariantCulture))];
                Assert.Equal(numbers.Order(), numbers);
            }
        }
    }

    private static void Ignore(Task task) => Assert.NotNull(task);

    [Fact]
    public void A_hundred_peers_are_served_in_turn_whatever_their_messages_lie_in()
    {
        const int Peers = 100;
        const int Messages = 4;
        TestLink[] links = [.. Enumerable.Range(0, Peers).Select(i => TestLink.Create(_core, default, conflates: i % 7 == 0))];
        for (int m = 0; m < Messages; m++)
        {
            for (int i = 0; i < Peers; i++)
            {
                // Read from a wire, appended by a sender of this process, or long enough for memory of its own; of every seventh peer only
                // the newest is kept.
                string text = $"{i}:{m}";
                _ = ((i + m) % 3) switch
                {
                    0 => (object)links[i].Publish(text),
                    1 => links[i].Append(text),
                    _ => links[i].Append(text.PadRight(OutgoingMessage.LargePayload, '.')),
                };
            }
        }

        var expected = new List<string>();
        for (int m = 0; m < Messages; m++)
        {
            for (int i = 0; i < Peers; i++)
            {
                if (i % 7 != 0)
                {
                    expected.Add($"{i}:{m}");
                }
                else if (m == 0)
                {
                    expected.Add($"{i}:{Messages - 1}");
                }
            }
        }

        Assert.Equal(expected, Queue.Take(expected.Count).Select(text => text.TrimEnd('.')), StringComparer.Ordinal);
        Assert.Null(Queue.Take());
    }

    [Fact]
    public void Peers_that_are_dropped_while_they_stand_in_line_are_passed_over()
    {
        TestLink[] links = [.. Enumerable.Range(0, 90).Select(_ => NewLink())];
        for (int i = 0; i < links.Length; i++)
        {
            links[i].Publish($"{i}:0", $"{i}:1");
        }

        for (int i = 0; i < links.Length; i += 2)
        {
            Queue.Drop(links[i].Lane);
        }

        string[] left = [.. Enumerable.Range(0, 2)
            .SelectMany(m => Enumerable.Range(0, links.Length).Where(i => i % 2 == 1).Select(i => $"{i}:{m}"))];
        Assert.Equal(left, Queue.Take(left.Length));
        Assert.Null(Queue.Take());
    }

    private TestLink NewLink() => TestLink.Create(_core, default);
}
