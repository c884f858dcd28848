using System.Diagnostics.Metrics;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;

namespace Net.Zlink;

/// <summary>Instruments read snapshots when a listener collects, one for all instruments of a collection.</summary>
internal sealed class ZlinkMeters : IDisposable
{
    private const string TypeTag = "zlink.socket.type";
    private const string CauseTag = "zlink.cause";
    private const string DirectionTag = "zlink.direction";

    private static int s_contexts;

    private readonly EngineHost _host;
    private readonly CollectionSnapshot<IReadOnlyDictionary<string, SocketStatistics>> _sockets;

    public ZlinkMeters(
        EngineHost host, ZlinkContextOptions options, Func<IReadOnlyDictionary<string, SocketStatistics>> sumByType, object scope)
    {
        _host = host;
        _sockets = new(sumByType, TimeProvider.System);
        int number = Interlocked.Increment(ref s_contexts);
        KeyValuePair<string, object?>[] tags = [new("zlink.context", options.Name ?? (object)number)];
        Meter = options.MeterFactory is { } factory
            ? factory.Create(new MeterOptions(ZlinkLibrary.MeterName) { Tags = tags }) // A factory takes no scope but itself.
            : new Meter(new MeterOptions(ZlinkLibrary.MeterName) { Tags = tags, Scope = scope });
        Gauge("zlink.shard.queue_depth", () => PerShard(static s => (long)s.QueueDepth), "{work}",
            "Work that waits until its shard runs it.");
        Gauge("zlink.shard.connections", () => PerShard(static s => (long)s.Connections), "{connection}",
            "Connections whose work the shard runs.");
        Counter("zlink.shard.works", () => PerShard(static s => s.Works), "{work}", "Works that the shard has run.");
        Counter("zlink.shard.busy_time", () => PerShard(static s => s.BusyTime.TotalSeconds), "s",
            "Time for which the shard has run work.");
        Gauge("zlink.shard.longest_run", () => PerShard(static s => s.LongestRun.TotalSeconds), "s",
            "The longest turn of the shard since its start.");
        Gauge("zlink.shard.longest_delay", () => PerShard(static s => s.LongestDelay.TotalSeconds), "s",
            "The longest wait of the shard for a thread of the pool since its start.");
        Counter("zlink.shard.delay", () => PerShard(static s => s.TotalDelay.TotalSeconds), "s",
            "Time for which the shard has waited for a thread of the pool.");
        Counter("zlink.shard.runs_from_pool", () => PerShard(static s => s.RunsFromPool), "{turn}",
            "Turns for which the shard waited for a thread of the pool.");
        Counter("zlink.shard.late_runs", () => PerShard(static s => s.LateRuns), "{turn}",
            "Turns for which it took over 200 ms to get a thread of the pool.");
        Gauge("zlink.queued_bytes", () => One(_host.Queued?.Used ?? 0), "By",
            "Bytes that all queues have reserved of the context's QueuedByteLimit.");
        Gauge("zlink.unfinished_bytes", () => One(_host.Unfinished?.Bytes ?? 0), "By",
            "Bytes of messages whose last part has not come; see UnfinishedByteLimit.");
        Gauge("zlink.subscription_bytes", () => One(_host.Subscriptions?.Bytes ?? 0), "By",
            "Bytes that topics of remote subscribers take; see SubscriptionByteLimit.");
        Gauge("zlink.pool.live", () => PerClass(static c => c.Live), "{buffer}", "Buffers of the pool that are rented now, by their size.");
        Gauge("zlink.pool.kept", () => PerClass(static c => c.Kept), "{buffer}",
            "Returned buffers that the pool keeps for reuse, by their size.");
        Gauge("zlink.pool.retained_bytes", () => One(_host.Pool.GetStatistics().BytesKept), "By",
            "Bytes of buffers that the pool keeps for reuse; see RetainedByteLimit.");
        Counter("zlink.pool.rented", () => PerClass(static c => c.Rented), "{buffer}", "Rentals of buffers from the pool, by their size.");
        Counter("zlink.pool.allocated", () => PerClass(static c => c.Allocated), "{buffer}",
            "Rentals for which the pool had to allocate a buffer, by size.");
        Counter("zlink.pool.rejected", () => PerClass(static c => c.Rejected), "{buffer}",
            "Returned buffers that the pool did not keep, by their size.");
        Counter("zlink.pool.oversize_rented", () => One(Oversize.Rented), "{buffer}",
            "Rentals of buffers above the pool's largest size: each was allocated.");
        Gauge("zlink.pool.oversize_live", () => One(Oversize.Live), "{buffer}",
            "Buffers above the pool's largest size that are rented now.");
        Gauge("zlink.pool.oversize_live_bytes", () => One(Oversize.BytesRented), "By",
            "Bytes of the buffers above the pool's largest size that are rented now.");
        AddSocketInstruments();
    }

    public Meter Meter { get; }

    public void Dispose() => Guarded(Meter.Dispose);

    private OversizeStatistics Oversize => _host.Pool.GetStatistics().Oversize;

    /// <summary>
    /// The first instrument should be one that is hardly ever read alone and then followed by the second: see
    /// <see cref="CollectionSnapshot{T}"/>.
    /// </summary>
    private void AddSocketInstruments()
    {
        SocketCounter(
            "zlink.socket.failed_handshakes",
            "{connection}",
            "Connections that ended before the handshake was complete.",
            CauseTag,
            ("lost", static s => s.HandshakeFailures.Lost),
            ("timed_out", static s => s.HandshakeFailures.TimedOut),
            ("malformed", static s => s.HandshakeFailures.Malformed),
            ("type_mismatch", static s => s.HandshakeFailures.TypeMismatch),
            ("error_received", static s => s.HandshakeFailures.ErrorReceived),
            ("certificate", static s => s.HandshakeFailures.Certificate));
        SocketCounter(
            "zlink.socket.dropped",
            "{message}",
            "Messages that sockets dropped, accepted or not, by cause.",
            CauseTag,
            ("connection_lost", static s => s.DroppedMessages - s.ObsoleteMessages),
            ("obsolete", static s => s.ObsoleteMessages),
            ("high_water_mark", static s => s.DroppedAtHighWaterMark),
            ("byte_limit", static s => s.DroppedAtByteLimit),
            ("context_limit", static s => s.DroppedAtContextLimit),
            ("unroutable", static s => s.DroppedUnroutable),
            ("unmatched", static s => s.UnmatchedMessages),
            ("unread", static s => s.DroppedUnreadMessages),
            ("filtered", static s => s.FilteredMessages));
        SocketCounter(
            "zlink.socket.connections",
            "{connection}",
            "Connections that came up, by who began them.",
            DirectionTag,
            ("accepted", static s => s.AcceptedConnections),
            ("dialled", static s => s.DialledConnections));
        SocketGauge("zlink.socket.count", static s => s.Sockets, "{socket}", "Sockets that are open, by type.");
        SocketGauge("zlink.socket.peers", static s => s.Peers, "{peer}",
            "Peers of sockets, those that are not connected included.");
        SocketGauge("zlink.socket.queued", static s => s.QueuedMessages, "{message}",
            "Messages that sockets have accepted and not written yet.");
        SocketGauge("zlink.socket.unread", static s => s.UnreadMessages, "{message}",
            "Messages that sockets have read and that were not received yet.");
        SocketCounter("zlink.socket.sent", static s => s.WrittenMessages, "{message}", "Messages that sockets have written.");
        SocketCounter("zlink.socket.unconfirmed", static s => s.UnconfirmedMessages, "{message}",
            "Messages that may be lost: the peer ended the connection at once, or with an ERROR.");
        SocketCounter("zlink.socket.sent_bytes", static s => s.WrittenBytes, "By",
            "Bytes that sockets have written, frame headers included.");
        SocketCounter("zlink.socket.received", static s => s.ReceivedMessages, "{message}", "Messages that sockets have read.");
        SocketCounter("zlink.socket.received_bytes", static s => s.ReceivedBytes, "By",
            "Bytes of the messages that sockets have read, with frame headers.");
        SocketCounter("zlink.socket.delivered", static s => s.DeliveredMessages, "{message}",
            "Messages that the application has received from sockets.");
        SocketCounter("zlink.socket.refused", static s => s.RefusedConnections, "{connection}",
            "Connections that sockets have rejected.");
    }

    private void SocketGauge(string name, Func<SocketStatistics, long> value, string unit, string description) =>
        Gauge(name, PerType(value), unit, description);

    private void SocketCounter(string name, Func<SocketStatistics, long> value, string unit, string description) =>
        Counter(name, PerType(value), unit, description);

    private void SocketCounter(
        string name, string unit, string description, string tag, params (string Kind, Func<SocketStatistics, long> Value)[] kinds)
    {
        Func<IReadOnlyDictionary<string, SocketStatistics>> read = _sockets.AddReader();
        Counter(name, () => read().SelectMany(one => kinds.Select(
            kind => new Measurement<long>(kind.Value(one.Value), new(TypeTag, one.Key), new(tag, kind.Kind)))), unit, description);
    }

    private Func<IEnumerable<Measurement<long>>> PerType(Func<SocketStatistics, long> value)
    {
        Func<IReadOnlyDictionary<string, SocketStatistics>> read = _sockets.AddReader();
        return () => read().Select(
            one => new Measurement<long>(value(one.Value), new KeyValuePair<string, object?>(TypeTag, one.Key)));
    }

    private IEnumerable<Measurement<T>> PerShard<T>(Func<ShardStatistics, T> value)
        where T : struct
    {
        foreach (ShardLoop shard in _host.Shards.All)
        {
            yield return new Measurement<T>(value(new ShardStatistics(shard)), new KeyValuePair<string,
                object?>("zlink.shard", shard.Index));
        }
    }

    /// <summary>Only size classes that were rented from: a pool has 66, a program uses a few, and each has five series.</summary>
    private IEnumerable<Measurement<long>> PerClass(Func<BufferClassStatistics, long> value)
    {
        foreach (BufferClassStatistics one in _host.Pool.GetStatistics().Classes.Where(static one => one.Rented > 0))
        {
            yield return new Measurement<long>(value(one), new KeyValuePair<string, object?>("zlink.pool.size", one.Size));
        }
    }

    private static IEnumerable<Measurement<long>> One(long value) => [new Measurement<long>(value)];

    private void Gauge<T>(string name, Func<IEnumerable<Measurement<T>>> values, string unit, string description)
        where T : struct => Guarded(() => Meter.CreateObservableGauge(name, values, unit, description));

    private void Counter<T>(string name, Func<IEnumerable<Measurement<T>>> values, string unit, string description)
        where T : struct => Guarded(() => Meter.CreateObservableCounter(name, values, unit, description));

    /// <summary>
    /// Creating or ending an instrument calls the application's listeners. Their exceptions must not stop the creation or shutdown of a
    /// context.
    /// </summary>
    private void Guarded(Action action)
    {
        try
        {
            action();
        }
        catch (Exception exception)
        {
            Log.MeterListenerFailed(_host.Logger, exception);
        }
    }
}

/// <summary>
/// A meter tells neither who collects nor when a collection begins. A listener of all instruments reads them on one thread in the order of
/// their creation. So the first instrument computes the sum, and each next one in that order on that thread gets the same.
/// </summary>
internal sealed class CollectionSnapshot<T>(Func<T> look, TimeProvider time)
    where T : class
{
    // A collection takes milliseconds, on a busy machine a hundred times that. The limit matters to a listener per instrument that reads in
    // this order: it gets nothing older.
    public static readonly TimeSpan Freshness = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private int _readers;
    private T? _seen;
    private int _next;
    private int _thread;
    private long _since;

    public Func<T> AddReader()
    {
        int index = Interlocked.Increment(ref _readers) - 1;
        return () => Read(index);
    }

    private T Read(int index)
    {
        int thread = Environment.CurrentManagedThreadId;
        lock (_gate)
        {
            if (index > 0 && index == _next && thread == _thread && time.GetElapsedTime(_since) < Freshness)
            {
                _next++;
                return _seen!;
            }
        }

        long now = time.GetTimestamp();
        T seen = look();
        if (index == 0)
        {
            lock (_gate)
            {
                (_seen, _next, _thread, _since) = (seen, 1, thread, now);
            }
        }

        return seen;
    }
}
