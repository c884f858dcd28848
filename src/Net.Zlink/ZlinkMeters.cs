using System.Diagnostics.Metrics;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>The context's instruments, under the meter name "Net.Zlink". Nothing is counted for them: each reads a snapshot when a listener asks.</summary>
internal sealed class ZlinkMeters : IDisposable
{
    public const string MeterName = "Net.Zlink";

    private static int s_contexts;

    private readonly Meter _meter;
    private readonly ZlinkContext _context;

    public ZlinkMeters(ZlinkContext context)
    {
        _context = context;
        int number = Interlocked.Increment(ref s_contexts);
        _meter = new Meter(new MeterOptions(MeterName) { Tags = [new("zlink.context", number)], Scope = context });
        _meter.CreateObservableGauge("zlink.shard.queue_depth", () => PerShard(static s => (long)s.QueueDepth), "{work}", "Connections waiting for their shard.");
        _meter.CreateObservableGauge("zlink.shard.connections", () => PerShard(static s => (long)s.Connections), "{connection}", "Connections that belong to the shard.");
        _meter.CreateObservableCounter("zlink.shard.works", () => PerShard(static s => s.Works), "{work}", "Works done.");
        _meter.CreateObservableCounter("zlink.shard.busy_time", () => PerShard(static s => s.BusyTime.TotalSeconds), "s", "Time the shard ran.");
        _meter.CreateObservableGauge("zlink.shard.longest_run", () => PerShard(static s => s.LongestRun.TotalSeconds), "s", "The longest turn so far.");
        _meter.CreateObservableGauge("zlink.shard.longest_delay", () => PerShard(static s => s.LongestDelay.TotalSeconds), "s", "The longest wait for the thread pool so far.");
        _meter.CreateObservableGauge("zlink.pool.live", () => PerClass(static c => c.Live), "{buffer}", "Buffers that are out.");
        _meter.CreateObservableGauge("zlink.pool.kept", () => PerClass(static c => c.Kept), "{buffer}", "Buffers kept for reuse.");
        _meter.CreateObservableCounter("zlink.pool.rented", () => PerClass(static c => c.Rented), "{buffer}", "Buffers handed out.");
        _meter.CreateObservableCounter("zlink.pool.allocated", () => PerClass(static c => c.Allocated), "{buffer}", "Buffers that had to be allocated.");
        _meter.CreateObservableCounter("zlink.pool.rejected", () => PerClass(static c => c.Rejected), "{buffer}", "Returned buffers that were not kept.");
        _meter.CreateObservableGauge("zlink.stream.peers", () => Sum(static s => s.Peers), "{peer}", "Connected STREAM peers.");
        _meter.CreateObservableCounter("zlink.stream.received", () => Sum(static s => s.ReceivedMessages), "{message}", "Messages read.");
        _meter.CreateObservableCounter("zlink.stream.received_bytes", () => Sum(static s => s.ReceivedBytes), "By", "Bytes read, frame headers included.");
        _meter.CreateObservableCounter("zlink.stream.written", () => Sum(static s => s.WrittenMessages), "{message}", "Messages written.");
        _meter.CreateObservableCounter("zlink.stream.written_bytes", () => Sum(static s => s.WrittenBytes), "By", "Bytes written, frame headers included.");
        _meter.CreateObservableCounter("zlink.stream.dropped", () => Sum(static s => s.DroppedMessages + s.DroppedUnreadMessages), "{message}", "Accepted messages not written, and read ones not received.");
        _meter.CreateObservableCounter("zlink.stream.refused", () => Sum(static s => s.RefusedConnections), "{connection}", "Connections turned away.");
    }

    public void Dispose() => _meter.Dispose();

    private IEnumerable<Measurement<T>> PerShard<T>(Func<ShardStatistics, T> value)
        where T : struct
    {
        foreach (ShardLoop shard in _context.Host.Shards.All)
        {
            yield return new Measurement<T>(value(ShardStatistics.Of(shard)), new KeyValuePair<string, object?>("zlink.shard", shard.Index));
        }
    }

    private IEnumerable<Measurement<long>> PerClass(Func<BufferClassStatistics, long> value)
    {
        foreach (BufferClassStatistics one in _context.Pool.GetStatistics().Classes)
        {
            yield return new Measurement<long>(value(one), new KeyValuePair<string, object?>("zlink.pool.size", one.Size));
        }
    }

    private long Sum(Func<StreamStatistics, long> value)
    {
        long sum = 0;
        foreach (StreamSocket socket in _context.SnapshotSockets())
        {
            sum += value(socket.GetStatistics());
        }

        return sum;
    }
}
