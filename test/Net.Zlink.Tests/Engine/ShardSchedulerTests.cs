using System.Buffers;
using System.Collections.Concurrent;
using System.IO.Pipelines;
using Net.Zlink.Engine;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>A shard as a scheduler of pipes and callbacks.</summary>
public sealed class ShardSchedulerTests
{
    [Fact]
    public async Task A_pipe_scheduled_on_a_shard_continues_there_in_order()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        ShardLoop shard = NewShard();
        var link = new Pipe(new PipeOptions(readerScheduler: shard, writerScheduler: PipeScheduler.ThreadPool,
            useSynchronizationContext: false));
        byte[] sent = Pattern(200_000, 3);
        var received = new List<byte>();
        int elsewhere = 0;
        async Task ReadAsync()
        {
            while (true)
            {
                ValueTask<ReadResult> next = link.Reader.ReadAsync(cancellation);
                bool waits = !next.IsCompleted;
                ReadResult result = await next.ConfigureAwait(false);
                elsewhere += waits && !ReferenceEquals(ShardLoop.Current, shard) ? 1 : 0;
                received.AddRange(result.Buffer.ToArray());
                link.Reader.AdvanceTo(result.Buffer.End);
                if (result.IsCompleted)
                {
                    return;
                }
            }
        }

        Task reading = ReadAsync();
        for (int at = 0; at < sent.Length; at += 1_000)
        {
            await link.Writer.WriteAsync(sent.AsMemory(at, 1_000), cancellation);
        }

        await link.Writer.CompleteAsync();
        await reading.WaitAsync(Patience, cancellation);
        Assert.Equal(sent, received);
        Assert.InRange(elsewhere, 0, 2); // A read that completes between IsCompleted and the await goes on where it is.
        Assert.InRange(shard.Counters.Works, 1, long.MaxValue);
    }

    [Fact]
    public async Task Scheduled_callbacks_each_run_once_with_their_own_state()
    {
        ShardLoop shard = NewShard();
        var seen = new ConcurrentBag<object>();
        object[] states = [.. Enumerable.Range(0, 4_000).Cast<object>()];
        InParallel([.. Enumerable.Range(0, 4).Select<int, Action>(t => () =>
        {
            for (int i = t; i < states.Length; i += 4)
            {
                shard.Schedule(state => seen.Add(state!), states[i]);
            }
        })]);
        await DrainAsync(shard);
        Assert.Equal(states.OrderBy(s => (int)s), seen.OrderBy(s => (int)s));
    }
}
