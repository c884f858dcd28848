using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>A subscriber's queue against a model: a list with limits, and receives that wait.</summary>
public class SubscriberQueueModelTests
{
    private enum Step
    {
        Enqueue,
        EnqueueThree,
        EnqueueLong,
        Take,
        TakeMany,
        Wait,
        Cancel,
    }

    [Fact]
    public void Messages_come_in_order_within_the_limits_and_every_one_is_counted() => Check.QuickThrowOnFailure(Prop.ForAll(
        Gen.Elements(Enum.GetValues<Step>()).ListOf().SelectMany(steps => Gen.Choose(1, 5).SelectMany(capacity => Gen.Elements(
            SpotOverflow.DropNewest, SpotOverflow.DropOldest).Select(overflow => (steps, capacity, overflow)))).ToArbitrary(),
        static run => Run([.. run.steps], run.capacity, run.overflow)));

    [Fact]
    public async Task Eight_threads_lose_and_double_nothing()
    {
        const int Writers = 4;
        int each = 20_000;
        var queue = new SubscriberQueue(new SpotSubscriberOptions { Capacity = int.MaxValue }, static _ => { });
        Task[] writing = [.. Enumerable.Range(0, Writers).Select(writer => Task.Run(() =>
        {
            for (int i = 0; i < each; i++)
            {
                SpotMessage message = Make(writer, i);
                queue.Enqueue(new ReadOnlySpan<SpotMessage>(in message));
            }
        }))];
        using var stop = new CancellationTokenSource();
        Task<List<(int, int)>>[] reading = [.. Enumerable.Range(0, 4).Select(reader => Task.Run(async () =>
        {
            List<(int Writer, int Number)> got = [];
            while (true)
            {
                try
                {
                    // Every second reader gives up now and then: no message may be lost by that.
                    using var patience = CancellationTokenSource.CreateLinkedTokenSource(stop.Token);
                    if (reader % 2 == 1 && got.Count % 7 == 0)
                    {
                        patience.CancelAfter(TimeSpan.FromMicroseconds(50));
                    }

                    using SpotMessage message = await queue.ReceiveAsync(patience.Token);
                    got.Add((message.Topic[0], BitConverter.ToInt32(message.Span)));
                }
                catch (OperationCanceledException) when (stop.IsCancellationRequested)
                {
                    return got;
                }
                catch (OperationCanceledException)
                {
                    continue;
                }
            }
        }))];
        await Task.WhenAll(writing).Guarded();
        await Guard.UntilAsync(() => queue.Statistics.Queued == 0, "all is received");
        await stop.CancelAsync();
        List<(int Writer, int Number)>[] all = await Task.WhenAll(reading).Guarded();
        Assert.Equal(Writers * each, all.Sum(static got => got.Count));
        Assert.Equal(Writers * each, all.SelectMany(static got => got).Distinct().Count());
        foreach (List<(int Writer, int Number)> got in all)
        {
            Assert.All(got.GroupBy(static one => one.Writer),
                static writer => Assert.Equal(writer.Select(static one => one.Number).Order(), writer.Select(static one => one.Number)));
        }

        SpotScene.AssertCounts(queue.Statistics);
        queue.Close();
    }

    [Theory]
    [InlineData(SpotOverflow.DropOldest)]
    [InlineData(SpotOverflow.DropNewest)]
    public void What_a_dropped_message_says_of_a_gap_the_next_one_says(SpotOverflow overflow)
    {
        var queue = new SubscriberQueue(new SpotSubscriberOptions { Capacity = 1, Overflow = overflow }, static _ => { });
        var gap = new SpotGap { Endpoint = "tcp://127.0.0.1:1" };
        SpotMessage[] messages = [Make(), Make().After(gap), Make()];
        queue.Enqueue(overflow == SpotOverflow.DropOldest ? messages.AsSpan(1, 2) : messages.AsSpan(0, 2));
        Assert.True(queue.TryReceive(out SpotMessage received));
        Assert.Same(gap, received.MissedBefore);
        Assert.Equal("t", received.Topic);
        received.Dispose();
        Array.ForEach(messages, static message => message.Dispose());

        static SpotMessage Make() => new(Message.Create("t"), "t", isLocal: false);
    }

    private static void Run(Step[] steps, int capacity, SpotOverflow overflow)
    {
        const long ByteLimit = 60;
        var queue = new SubscriberQueue(
            new SpotSubscriberOptions { Capacity = capacity, ByteLimit = ByteLimit, Overflow = overflow }, static _ => { });
        List<int> model = [];
        List<(Task<SpotMessage> Task, CancellationTokenSource Cancel)> waiting = [];
        List<SpotMessage> received = [];
        (long matched, long dropped, int number) = (0, 0, 0);

        // Length 5 or, of each tenth number, 45: with the topic's byte.
        static int LengthOf(int number) => number % 10 == 9 ? 46 : 6;
        void Accept(int one)
        {
            matched++;
            if (waiting.Count > 0)
            {
                (Task<SpotMessage> task, _) = waiting[0];
                waiting.RemoveAt(0);
                received.Add(task.GetAwaiter().GetResult());
                Assert.Equal(one, NumberOf(received[^1]));
                return;
            }

            while (model.Count > 0 && (model.Count >= capacity || model.Sum(LengthOf) + LengthOf(one) > ByteLimit))
            {
                dropped++;
                if (overflow == SpotOverflow.DropNewest)
                {
                    return;
                }

                model.RemoveAt(0);
            }

            model.Add(one);
        }

        void Take(SpotMessage message)
        {
            received.Add(message);
            Assert.Equal(model[0], NumberOf(message));
            model.RemoveAt(0);
        }

        foreach (Step step in steps)
        {
            switch (step)
            {
                case Step.Enqueue or Step.EnqueueThree or Step.EnqueueLong:
                    number += step == Step.EnqueueLong ? 9 - (number % 10) : 0;
                    int[] numbers = [.. Enumerable.Range(number, step == Step.EnqueueThree ? 3 : 1)];
                    number += numbers.Length;
                    SpotMessage[] messages = [.. numbers.Select(static one => Make(0, one, LengthOf(one) - 1))];
                    queue.Enqueue(messages);
                    Array.ForEach(numbers, Accept);
                    break;
                case Step.Take:
                    bool came = queue.TryReceive(out SpotMessage taken);
                    Assert.Equal(model.Count > 0, came);
                    if (came)
                    {
                        Take(taken);
                    }

                    break;
                case Step.TakeMany:
                    SpotMessage[] many = new SpotMessage[2];
                    int count = queue.ReceiveMany(many);
                    Assert.Equal(Math.Min(2, model.Count), count);
                    Array.ForEach(many[..count], Take);
                    break;
                case Step.Wait:
                    var cancel = new CancellationTokenSource();
                    ValueTask<SpotMessage> wait = queue.ReceiveAsync(cancel.Token);
                    Assert.Equal(model.Count > 0, wait.IsCompleted);
                    if (wait.IsCompleted)
                    {
                        Take(wait.AsTask().GetAwaiter().GetResult());
                    }
                    else
                    {
                        waiting.Add((wait.AsTask(), cancel));
                    }

                    break;
                case Step.Cancel when waiting.Count > 0:
                    (Task<SpotMessage> cancelled, CancellationTokenSource token) = waiting[^1];
                    waiting.RemoveAt(waiting.Count - 1);
                    token.Cancel();
                    Assert.ThrowsAny<OperationCanceledException>(() => cancelled.GetAwaiter().GetResult());
                    break;
                default:
                    break;
            }

            SpotSubscriberStatistics counts = queue.Statistics;
            Assert.Equal((matched, (long)received.Count, dropped, model.Count, (long)model.Sum(LengthOf)),
                (counts.Matched, counts.Received, counts.Dropped, counts.Queued, counts.QueuedBytes));
            SpotScene.AssertCounts(counts);
        }

        queue.Close();
        Assert.All(waiting, static wait => Assert.Throws<ObjectDisposedException>(() => wait.Task.GetAwaiter().GetResult()));
        SpotScene.AssertCounts(queue.Statistics);
        received.ForEach(static message => message.Dispose());
    }

    private static int NumberOf(SpotMessage message) => BitConverter.ToInt32(message.Span);

    private static SpotMessage Make(int writer, int number, int length = 5)
    {
        using var builder = new MessageBuilder();
        string topic = ((char)writer).ToString();
        builder.Add(topic);
        BitConverter.TryWriteBytes(builder.AddSpace(length), number);
        return new SpotMessage(builder.ToMessage(), topic, isLocal: true);
    }
}
