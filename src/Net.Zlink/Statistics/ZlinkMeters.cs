using System.Diagnostics.Metrics;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Instruments read snapshots when a listener collects, one for all instruments of a collection.</summary>
internal sealed class ZlinkMeters : IDisposable
{
    private const string TypeTag = "zlink.socket.type";
    private const string CauseTag = "zlink.cause";
    private const string DirectionTag = "zlink.direction";

    private static int s_contexts;

    private readonly Meter _meter;
    private readonly ZlinkContext _context;
    private readonly CollectionSnapshot<StreamCounters> _streams;
    private readonly CollectionSnapshot<SocketTotals> _sockets;

    public ZlinkMeters(ZlinkContext context)
    {
        _context = context;
        _streams = new CollectionSnapshot<StreamCounters>(context.Sockets.SumStreams, TimeProvider.System);
        _sockets = new CollectionSnapshot<SocketTotals>(context.Sockets.SumSockets, TimeProvider.System);
        int number = Interlocked.Increment(ref s_contexts);
        KeyValuePair<string, object?>[] tags = [new("zlink.context", context.Options.Name ?? (object)number)];
        _meter = context.Options.MeterFactory is { } factory
            ? factory.Create(new MeterOptions(ZlinkLibrary.MeterName) { Tags = tags }) // A factory takes no scope but itself.
            : new Meter(new MeterOptions(ZlinkLibrary.MeterName) { Tags = tags, Scope = context });
        Gauge("zlink.shard.queue_depth", () => PerShard(static s => (long)s.QueueDepth), "{work}", "Connections waiting for their shard.");
        Gauge("zlink.shard.connections", () => PerShard(static s => (long)s.Connections), "{connection}",
            "Connections that belong to the shard.");
        Counter("zlink.shard.works", () => PerShard(static s => s.Works), "{work}", "Works done.");
        Counter("zlink.shard.busy_time", () => PerShard(static s => s.BusyTime.TotalSeconds), "s", "Time the shard ran.");
        Gauge("zlink.shard.longest_run", () => PerShard(static s => s.LongestRun.TotalSeconds), "s", "The longest turn so far.");
        Gauge("zlink.shard.longest_delay", () => PerShard(static s => s.LongestDelay.TotalSeconds), "s",
            "The longest wait for the thread pool so far.");
        Counter("zlink.shard.delay", () => PerShard(static s => s.TotalDelay.TotalSeconds), "s", "All waits for the thread pool together.");
        Counter("zlink.shard.runs_from_pool", () => PerShard(static s => s.RunsFromPool), "{turn}",
            "Turns that waited for the thread pool.");
        Counter("zlink.shard.late_runs", () => PerShard(static s => s.LateRuns), "{turn}",
            "Turns that waited longer than 200 ms for the thread pool.");
        Gauge("zlink.queued_bytes", () => One(_context.Host.Budget?.Used ?? 0), "By",
            "Bytes of the context's QueuedByteLimit that queues use.");
        Gauge("zlink.unfinished_bytes", () => One(_context.Host.Unfinished?.Bytes ?? 0), "By",
            "Received bytes of messages that are still incomplete.");
        Gauge("zlink.subscription_bytes", () => One(_context.Host.Subscriptions?.Bytes ?? 0), "By",
            "Bytes that the topics of subscribers use.");
        Gauge("zlink.pool.live", () => PerClass(static c => c.Live), "{buffer}", "Buffers that are rented.");
        Gauge("zlink.pool.kept", () => PerClass(static c => c.Kept), "{buffer}", "Buffers kept for reuse.");
        Gauge("zlink.pool.retained_bytes", () => One(_context.Pool.GetStatistics().BytesKept), "By", "Bytes of buffers kept for reuse.");
        Counter("zlink.pool.rented", () => PerClass(static c => c.Rented), "{buffer}", "Buffers that were rented.");
        Counter("zlink.pool.allocated", () => PerClass(static c => c.Allocated), "{buffer}", "Buffers that had to be allocated.");
        Counter("zlink.pool.rejected", () => PerClass(static c => c.Rejected), "{buffer}", "Returned buffers that were not kept.");
        Counter("zlink.pool.oversize_rented", () => One(Oversize.Rented), "{buffer}",
            "Buffers above the largest size that were rented: each is allocated.");
        Gauge("zlink.pool.oversize_live", () => One(Oversize.Live), "{buffer}", "Buffers above the largest size that are rented.");
        Gauge("zlink.pool.oversize_live_bytes", () => One(Oversize.BytesRented), "By",
            "Bytes of the rented buffers above the largest size.");
        AddStreamInstruments();
        AddSocketInstruments();
    }

    public void Dispose() => Guarded(_meter.Dispose);

    private OversizeStatistics Oversize => _context.Pool.GetStatistics().Oversize;

    /// <summary>
    /// The first instrument should be one that is hardly ever read alone and then followed by the second: see
    /// <see cref="CollectionSnapshot{T}"/>.
    /// </summary>
    private void AddStreamInstruments()
    {
        Counter(
            "zlink.stream.failed_handshakes",
            _streams,
            static c => PerKind(
                c,
                CauseTag,
                ("lost", static c => c.FailedHandshakes[HandshakeFailure.Lost]),
                ("timed_out", static c => c.FailedHandshakes[HandshakeFailure.TimedOut]),
                ("malformed", static c => c.FailedHandshakes[HandshakeFailure.Malformed]),
                ("certificate", static c => c.FailedHandshakes[HandshakeFailure.Certificate])),
            "{connection}",
            "Handshakes of tls, ws and wss that were not completed, by cause.");
        Counter(
            "zlink.stream.dropped",
            _streams,
            static c => PerKind(c, CauseTag, ("connection_lost", static c => c.DroppedMessages), ("unread", static c => c.DroppedUnread)),
            "{message}",
            "Accepted messages not written, and read ones not received, by cause.");
        Counter(
            "zlink.stream.connections",
            _streams,
            static c => PerKind(c, DirectionTag, ("accepted", static c => c.Accepted), ("dialled", static c => c.Dialled)),
            "{connection}",
            "Established connections, including rejected ones.");
        Gauge("zlink.stream.peers", _streams, static c => One(c.Peers), "{peer}", "Connected STREAM peers.");
        Gauge("zlink.stream.queued", _streams, static c => One(c.QueuedMessages), "{message}", "Messages that wait to be written.");
        Gauge("zlink.stream.unread", _streams, static c => One(c.UnreadMessages), "{message}", "Messages that wait to be received.");
        Counter("zlink.stream.received", _streams, static c => One(c.ReceivedMessages), "{message}", "Messages read.");
        Counter("zlink.stream.received_bytes", _streams, static c => One(c.ReceivedBytes), "By", "Bytes read, frame headers included.");
        Counter("zlink.stream.written", _streams, static c => One(c.WrittenMessages), "{message}", "Messages written.");
        Counter("zlink.stream.written_bytes", _streams, static c => One(c.WrittenBytes), "By", "Bytes written, frame headers included.");
        Counter("zlink.stream.refused", _streams, static c => One(c.Refused), "{connection}", "Rejected connections.");
    }

    private void AddSocketInstruments()
    {
        Counter(
            "zlink.socket.failed_handshakes",
            _sockets,
            static t => PerType(
                t,
                CauseTag,
                ("lost", static s => s.HandshakeFailures.Lost),
                ("timed_out", static s => s.HandshakeFailures.TimedOut),
                ("malformed", static s => s.HandshakeFailures.Malformed),
                ("type_mismatch", static s => s.HandshakeFailures.TypeMismatch),
                ("error_received", static s => s.HandshakeFailures.ErrorReceived),
                ("certificate", static s => s.HandshakeFailures.Certificate)),
            "{connection}",
            "Connections that ended before the handshake was complete, by cause.");
        Counter(
            "zlink.socket.dropped",
            _sockets,
            static t => PerType(
                t,
                CauseTag,
                ("connection_lost", static s => s.DroppedMessages - s.ObsoleteMessages),
                ("obsolete", static s => s.ObsoleteMessages),
                ("high_water_mark", static s => s.DroppedAtHighWaterMark),
                ("byte_limit", static s => s.DroppedAtByteLimit),
                ("context_limit", static s => s.DroppedAtContextLimit),
                ("unroutable", static s => s.DroppedUnroutable),
                ("unmatched", static s => s.UnmatchedMessages),
                ("unread", static s => s.DroppedUnreadMessages),
                ("filtered", static s => s.FilteredMessages)),
            "{message}",
            "Messages that no peer received, by cause.");
        Counter(
            "zlink.socket.connections",
            _sockets,
            static t => PerType(t, DirectionTag, ("accepted", static s => s.AcceptedConnections),
                ("dialled", static s => s.DialledConnections)),
            "{connection}",
            "Established connections.");
        Gauge("zlink.socket.count", _sockets, static t => PerType(t, static (count, _) => count), "{socket}", "Open sockets.");
        Gauge("zlink.socket.peers", _sockets, static t => PerType(t, static (_, s) => s.Peers), "{peer}",
            "Links to peers, including those that are not connected.");
        Gauge("zlink.socket.queued", _sockets, static t => PerType(t, static (_, s) => s.QueuedMessages), "{message}",
            "Messages that wait to be written.");
        Gauge("zlink.socket.unread", _sockets, static t => PerType(t, static (_, s) => s.UnreadMessages), "{message}",
            "Messages that wait to be received.");
        Counter("zlink.socket.sent", _sockets, static t => PerType(t, static (_, s) => s.WrittenMessages), "{message}",
            "Messages written.");
        Counter("zlink.socket.unconfirmed", _sockets, static t => PerType(t, static (_, s) => s.UnconfirmedMessages), "{message}",
            "Messages written to connections that the peer ended before it sent a frame, or with an ERROR: they may be lost.");
        Counter("zlink.socket.sent_bytes", _sockets, static t => PerType(t, static (_, s) => s.WrittenBytes), "By",
            "Bytes written, frame headers included; inproc as over a wire.");
        Counter("zlink.socket.received", _sockets, static t => PerType(t, static (_, s) => s.ReceivedMessages), "{message}",
            "Messages read.");
        Counter("zlink.socket.received_bytes", _sockets, static t => PerType(t, static (_, s) => s.ReceivedBytes), "By",
            "Bytes of the messages read, frame headers included; inproc as over a wire.");
        Counter("zlink.socket.delivered", _sockets, static t => PerType(t, static (_, s) => s.DeliveredMessages), "{message}",
            "Messages that the application received.");
        Counter("zlink.socket.refused", _sockets, static t => PerType(t, static (_, s) => s.RefusedConnections), "{connection}",
            "Rejected connections.");
    }

    private static IEnumerable<Measurement<long>> PerType(SocketTotals totals, Func<int, SocketStatistics, long> value) =>
        totals.ByType.Select(one => new Measurement<long>(
            value(one.Sockets, one.Statistics), new KeyValuePair<string, object?>(TypeTag, one.Type)));

    private static IEnumerable<Measurement<long>> PerType(
        SocketTotals totals, string tag, params (string Kind, Func<SocketStatistics, long> Value)[] kinds) =>
        totals.ByType.SelectMany(one => kinds.Select(
            kind => new Measurement<long>(kind.Value(one.Statistics), new(TypeTag, one.Type), new(tag, kind.Kind))));

    private static IEnumerable<Measurement<long>> PerKind(
        StreamCounters counters, string tag, params (string Kind, Func<StreamCounters, long> Value)[] kinds) =>
        kinds.Select(one => new Measurement<long>(one.Value(counters), new KeyValuePair<string, object?>(tag, one.Kind)));

    private IEnumerable<Measurement<T>> PerShard<T>(Func<ShardStatistics, T> value)
        where T : struct
    {
        foreach (ShardLoop shard in _context.Host.Shards.All)
        {
            yield return new Measurement<T>(value(ShardStatistics.Of(shard)), new KeyValuePair<string,
                object?>("zlink.shard", shard.Index));
        }
    }

    /// <summary>Only size classes that were rented from: a pool has 66, a program uses a few, and each has five series.</summary>
    private IEnumerable<Measurement<long>> PerClass(Func<BufferClassStatistics, long> value)
    {
        foreach (BufferClassStatistics one in _context.Pool.GetStatistics().Classes.Where(static one => one.Rented > 0))
        {
            yield return new Measurement<long>(value(one), new KeyValuePair<string, object?>("zlink.pool.size", one.Size));
        }
    }

    private static IEnumerable<Measurement<long>> One(long value) => [new Measurement<long>(value)];

    private void Gauge<TLook>(string name, CollectionSnapshot<TLook> look, Func<TLook, IEnumerable<Measurement<long>>> values, string unit,
        string description)
        where TLook : class
    {
        Func<TLook> read = look.AddReader();
        Gauge(name, () => values(read()), unit, description);
    }

    private void Counter<TLook>(string name, CollectionSnapshot<TLook> look, Func<TLook, IEnumerable<Measurement<long>>> values,
        string unit, string description)
        where TLook : class
    {
        Func<TLook> read = look.AddReader();
        Counter(name, () => values(read()), unit, description);
    }

    private void Gauge<T>(string name, Func<IEnumerable<Measurement<T>>> values, string unit, string description)
        where T : struct => Guarded(() => _meter.CreateObservableGauge(name, values, unit, description));

    private void Counter<T>(string name, Func<IEnumerable<Measurement<T>>> values, string unit, string description)
        where T : struct => Guarded(() => _meter.CreateObservableCounter(name, values, unit, description));

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
            Log.MeterListenerFailed(_context.Host.Logger, exception);
        }
    }
}
