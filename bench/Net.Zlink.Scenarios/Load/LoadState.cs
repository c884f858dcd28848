using System.Collections.Concurrent;
using System.Diagnostics;
using System.Net.Sockets;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Load;

/// <summary>What all connections of a load share: whether to send, whether to measure, and what is counted rarely.</summary>
internal sealed class LoadState : IDisposable
{
    private readonly ThreadLocal<LoadWorker> _workers;
    private readonly ConcurrentDictionary<int, long> _errors = new();
    private long _unrequested;
    private long _duplicate;
    private long _outOfOrder;
    private long _overrun;
    private long _corrupt;
    private long _lost;
    private long _measureFrom = long.MaxValue;
    private long _measureUntil = long.MaxValue;
    private bool _isSending;

    public LoadState(ScenarioSettings settings)
    {
        Settings = settings;
        Template = new MessageTemplate(Math.Max(settings.Size, MessageTemplate.SmallestPayload));
        _workers = new ThreadLocal<LoadWorker>(() =>
            new LoadWorker(Template.MakeBatch(Math.Clamp(settings.InFlight, 1, settings.SendBatch))), trackAllValues: true);
    }

    public ScenarioSettings Settings { get; }

    public MessageTemplate Template { get; }

    /// <summary>The calling thread's buffers and counters.</summary>
    public LoadWorker Worker => _workers.Value!;

    /// <summary>Whether connections fill up what is in flight.</summary>
    public bool IsSending
    {
        get => Volatile.Read(ref _isSending);
        set => Volatile.Write(ref _isSending, value);
    }

    /// <summary>Stopwatch time from which messages count for latency; <see cref="long.MaxValue"/> before.</summary>
    public long MeasureFrom
    {
        get => Volatile.Read(ref _measureFrom);
        set => Volatile.Write(ref _measureFrom, value);
    }

    /// <summary>
    /// Stopwatch time from which messages do not count any more. Those sent before count whenever their replies come: a server that stalls
    /// at the end is not made faster by it.
    /// </summary>
    public long MeasureUntil
    {
        get => Volatile.Read(ref _measureUntil);
        set => Volatile.Write(ref _measureUntil, value);
    }

    /// <summary>Connections that ended before the client ended them.</summary>
    public long LostConnections => Volatile.Read(ref _lost);

    /// <summary>Right replies so far.</summary>
    public long Replies => _workers.Values.Sum(static worker => worker.Replies);

    public GatingViolations Gating => new()
    {
        Unrequested = Volatile.Read(ref _unrequested),
        Duplicate = Volatile.Read(ref _duplicate),
        OutOfOrder = Volatile.Read(ref _outOfOrder),
        Overrun = Volatile.Read(ref _overrun),
        Corrupt = Volatile.Read(ref _corrupt),
    };

    /// <summary>Errors by the system's number.</summary>
    public string ErrorsByErrno => string.Join(
        ';', _errors.OrderBy(static error => error.Key)
        .Select(static error => string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{error.Key}:{error.Value}")));

    public void CountUnrequested() => Interlocked.Increment(ref _unrequested);

    public void CountDuplicate() => Interlocked.Increment(ref _duplicate);

    public void CountOutOfOrder() => Interlocked.Increment(ref _outOfOrder);

    public void CountOverrun() => Interlocked.Increment(ref _overrun);

    public void CountCorrupt() => Interlocked.Increment(ref _corrupt);

    /// <summary>A connection ended that the client had not ended.</summary>
    public void CountLost(SocketError error)
    {
        Interlocked.Increment(ref _lost);

        // The peer's orderly end is no error of the system; for the one that had more to send it is one all the same.
        CountError(error == SocketError.Success ? SocketError.ConnectionReset : error);
    }

    public void CountError(SocketError error) =>
        _errors.AddOrUpdate(new SocketException((int)error).NativeErrorCode, 1, static (_, count) => count + 1);

    /// <summary>All latencies recorded so far.</summary>
    public LatencyHistogram Latencies()
    {
        var sum = new LatencyHistogram();
        AddLatenciesTo(sum);
        return sum;
    }

    public void AddLatenciesTo(LatencyHistogram sum)
    {
        foreach (LoadWorker worker in _workers.Values)
        {
            sum.Add(worker.Latencies);
        }
    }

    public void Dispose() => _workers.Dispose();
}

/// <summary>What belongs to one thread of the load: a batch to send from, and counters that nobody else writes.</summary>
internal sealed class LoadWorker(byte[] batch)
{
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    private long _replies;

    public byte[] Batch => batch;

    public LatencyHistogram Latencies { get; } = new();

    public long Replies => Volatile.Read(ref _replies);

    public void CountReplies(int count) => Volatile.Write(ref _replies, _replies + count);

    public void RecordLatency(long ticks) => Latencies.Record((long)(ticks * NanosecondsPerTick));
}
