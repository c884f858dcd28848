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

    private readonly Meter _meter;
    private readonly ZlinkContext _context;
    private readonly CollectionSnapshot<SocketStatistics> _streams;
    private readonly CollectionSnapshot<SocketTotals> _sockets;

    public ZlinkMeters(ZlinkContext context)
    {
        _context = context;
        _streams = new CollectionSnapshot<SocketStatistics>(context.Sockets.SumStreams, TimeProvider.System);
        _sockets = new CollectionSnapshot<SocketTotals>(context.Sockets.SumSockets, TimeProvider.System);
        int number = Interlocked.Increment(ref s_contexts);
        KeyValuePair<string, object?>[] tags = [new("zlink.context", context.Options.Name ?? (object)number)];
        _meter = context.Options.MeterFactory is { } factory
            ? factory.Create(new MeterOptions(ZlinkLibrary.MeterName) { Tags = tags }) // A factory takes no scope but itself.
            : new Meter(new MeterOptions(ZlinkLibrary.MeterName) { Tags = tags, Scope = context });
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
        Gauge("zlink.queued_bytes", () => One(_context.Host.Budget?.Used ?? 0), "By",
            "Bytes that all queues have reserved of the context's QueuedByteLimit.");
        Gauge("zlink.unfinished_bytes", () => One(_context.Host.Unfinished?.Bytes ?? 0), "By",
            "Bytes of messages whose last part has not come; see UnfinishedByteLimit.");
        Gauge("zlink.subscription_bytes", () => One(_context.Host.Subscriptions?.Bytes ?? 0), "By",
            "Bytes that topics of remote subscribers take; see SubscriptionByteLimit.");
        Gauge("zlink.pool.live", () => PerClass(static c => c.Live), "{buffer}", "Buffers of the pool that are rented now, by their size.");
        Gauge("zlink.pool.kept", () => PerClass(static c => c.Kept), "{buffer}",
            "Returned buffers that the pool keeps for reuse, by their size.");
        Gauge("zlink.pool.retained_bytes", () => One(_context.Pool.GetStatistics().BytesKept), "By",
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
        AddStreamInstruments();
        AddSocketInstruments();
    }

    public Meter Meter => _meter;

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
                ("lost", static c => c.HandshakeFailures.Lost),
                ("timed_out", static c => c.HandshakeFailures.TimedOut),
                ("malformed", static c => c.HandshakeFailures.Malformed),
                ("certificate", static c => c.HandshakeFailures.Certificate)),
            "{connection}",
            "Connections that ended in the handshake of tls, ws or wss.");
        Counter(
            "zlink.stream.dropped",
            _streams,
            static c => PerKind(c, CauseTag, ("connection_lost", static c => c.DroppedMessages),
                ("unread", static c => c.DroppedUnreadMessages)),
            "{message}",
            "Messages accepted and not written, or read and not received.");
        Counter(
            "zlink.stream.connections",
            _streams,
            static c => PerKind(c, DirectionTag, ("accepted", static c => c.AcceptedConnections),
                ("dialled", static c => c.DialledConnections)),
            "{connection}",
            "Connections of STREAM sockets that came up, rejected ones included.");
        Gauge("zlink.stream.peers", _streams, static c => One(c.Peers), "{peer}", "Peers that are connected to STREAM sockets.");
        Gauge("zlink.stream.queued", _streams, static c => One(c.QueuedMessages), "{message}",
            "Messages that STREAM sockets have accepted and not written yet.");
        Gauge("zlink.stream.unread", _streams, static c => One(c.UnreadMessages), "{message}",
            "Messages that STREAM sockets have read and that were not received yet.");
        Counter("zlink.stream.received", _streams, static c => One(c.ReceivedMessages), "{message}",
            "Messages that STREAM sockets have read.");
        Counter("zlink.stream.received_bytes", _streams, static c => One(c.ReceivedBytes), "By",
            "Bytes that STREAM sockets have read, frame headers included.");
        Counter("zlink.stream.written", _streams, static c => One(c.WrittenMessages), "{message}",
            "Messages that STREAM sockets have written.");
        Counter("zlink.stream.written_bytes", _streams, static c => One(c.WrittenBytes), "By",
            "Bytes that STREAM sockets have written, frame headers included.");
        Counter("zlink.stream.refused", _streams, static c => One(c.RefusedConnections), "{connection}",
            "Connections that STREAM sockets have rejected.");
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
            "Connections that ended before the handshake was complete.");
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
            "Messages that sockets dropped, accepted or not, by cause.");
        Counter(
            "zlink.socket.connections",
            _sockets,
            static t => PerType(t, DirectionTag, ("accepted", static s => s.AcceptedConnections),
                ("dialled", static s => s.DialledConnections)),
            "{connection}",
            "Connections whose handshake was completed, by who began them.");
        Gauge("zlink.socket.count", _sockets, static t => PerType(t, static (count, _) => count), "{socket}",
            "Sockets that are open, by type.");
        Gauge("zlink.socket.peers", _sockets, static t => PerType(t, static (_, s) => s.Peers), "{peer}",
            "Peers of sockets, those that are not connected included.");
        Gauge("zlink.socket.queued", _sockets, static t => PerType(t, static (_, s) => s.QueuedMessages), "{message}",
            "Messages that sockets have accepted and not written yet.");
        Gauge("zlink.socket.unread", _sockets, static t => PerType(t, static (_, s) => s.UnreadMessages), "{message}",
            "Messages that sockets have read and that were not received yet.");
        Counter("zlink.socket.sent", _sockets, static t => PerType(t, static (_, s) => s.WrittenMessages), "{message}",
            "Messages that sockets have written.");
        Counter("zlink.socket.unconfirmed", _sockets, static t => PerType(t, static (_, s) => s.UnconfirmedMessages), "{message}",
            "Messages that may be lost: the peer ended the connection at once, or with an ERROR.");
        Counter("zlink.socket.sent_bytes", _sockets, static t => PerType(t, static (_, s) => s.WrittenBytes), "By",
            "Bytes that sockets have written, frame headers included.");
        Counter("zlink.socket.received", _sockets, static t => PerType(t, static (_, s) => s.ReceivedMessages), "{message}",
            "Messages that sockets have read.");
        Counter("zlink.socket.received_bytes", _sockets, static t => PerType(t, static (_, s) => s.ReceivedBytes), "By",
            "Bytes of the messages that sockets have read, with frame headers.");
        Counter("zlink.socket.delivered", _sockets, static t => PerType(t, static (_, s) => s.DeliveredMessages), "{message}",
            "Messages that the application has received from sockets.");
        Counter("zlink.socket.refused", _sockets, static t => PerType(t, static (_, s) => s.RefusedConnections), "{connection}",
            "Connections that sockets have rejected.");
    }

    private static IEnumerable<Measurement<long>> PerType(SocketTotals totals, Func<int, SocketStatistics, long> value) =>
        totals.ByType.Select(one => new Measurement<long>(
            value(one.Sockets, one.Statistics), new KeyValuePair<string, object?>(TypeTag, one.Type)));

    private static IEnumerable<Measurement<long>> PerType(
        SocketTotals totals, string tag, params (string Kind, Func<SocketStatistics, long> Value)[] kinds) =>
        totals.ByType.SelectMany(one => kinds.Select(
            kind => new Measurement<long>(kind.Value(one.Statistics), new(TypeTag, one.Type), new(tag, kind.Kind))));

    private static IEnumerable<Measurement<long>> PerKind(
        SocketStatistics counters, string tag, params (string Kind, Func<SocketStatistics, long> Value)[] kinds) =>
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
