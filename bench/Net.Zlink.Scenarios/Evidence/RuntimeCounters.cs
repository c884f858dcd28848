using System.Diagnostics;
using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Evidence;

/// <summary>Listens to the System.Runtime counters of another .NET process through its diagnostics port, one value of each a
/// second.</summary>
internal sealed class RuntimeCounters : IAsyncDisposable
{
    private const string Provider = "System.Runtime";

    // A counter's payload is a few hundred bytes a second.
    private const int BufferMiB = 4;

    private const double BytesPerMegabyte = 1e6;
    private static readonly TimeSpan StopLimit = TimeSpan.FromSeconds(5);

    private readonly Lock _gate = new();
    private readonly EventPipeSession _session;
    private readonly Task _reading;
    private RuntimeEvidence _evidence = new();
    private double _allocated;
    private long _started;
    private bool _isCounting;

    private RuntimeCounters(EventPipeSession session)
    {
        _session = session;
        _reading = Task.Factory.StartNew(Read, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
    }

    /// <summary>Null if the process cannot be listened to: it is not .NET, it has ended, or its diagnostics are turned off.</summary>
    public static async Task<RuntimeCounters?> AttachAsync(int pid, CancellationToken cancellation)
    {
        EventPipeProvider[] providers = [new(Provider, EventLevel.Informational, 0, new Dictionary<string,
            string>(StringComparer.Ordinal) { ["EventCounterIntervalSec"] = "1" })];
        try
        {
            return new RuntimeCounters(await new DiagnosticsClient(pid)
                .StartEventPipeSessionAsync(providers, requestRundown: false, BufferMiB, cancellation));
        }
        catch (Exception e) when (e is ServerNotAvailableException or DiagnosticsClientException or IOException or TimeoutException)
        {
            return null;
        }
    }

    /// <summary>What comes from now on counts.</summary>
    public void Begin()
    {
        lock (_gate)
        {
            _isCounting = true;
            _started = Stopwatch.GetTimestamp();
        }
    }

    /// <summary>What came since <see cref="Begin"/>; null if it was too short for a value.</summary>
    public RuntimeEvidence? End()
    {
        lock (_gate)
        {
            _isCounting = false;
            double seconds = Stopwatch.GetElapsedTime(_started).TotalSeconds;
            return _evidence.Seconds == 0 ? null : _evidence
                with
            {
                Seconds = Math.Round(seconds, 2),
                AllocatedMegabytesPerSecond =
                Math.Round(_allocated / BytesPerMegabyte / _evidence.Seconds, 3)
            };
        }
    }

    public async ValueTask DisposeAsync()
    {
        using var limit = new CancellationTokenSource(StopLimit);
        try
        {
            // Told to stop, the process sends what it still has and ends the stream, and with it the reading.
            await _session.StopAsync(limit.Token);
            await _reading.WaitAsync(limit.Token);
        }
        catch (Exception e) when (e is ServerNotAvailableException or DiagnosticsClientException or IOException or TimeoutException
            or OperationCanceledException)
        {
            // The process has ended; so has the session.
        }

        _session.Dispose();
        await _reading;
    }

    private void Read()
    {
        try
        {
            using var source = new EventPipeEventSource(_session.EventStream);
            source.Dynamic.All += OnEvent;
            source.Process();
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException or InvalidOperationException or FormatException)
        {
            // The stream ended in the middle of something, with the process, or was disposed: then it cannot be read any more, which is an
            // InvalidOperationException.
        }
    }

    private void OnEvent(TraceEvent data)
    {
        if (!string.Equals(data.EventName, "EventCounters", StringComparison.Ordinal) || data.PayloadValue(0) is not IDictionary<string,
            object> outer || outer["Payload"] is not IDictionary<string, object> counter)
        {
            return;
        }

        // A gauge has a mean, a counter that only rises an increment.
        object? value = counter.TryGetValue("Increment", out object? increment) ? increment : counter.TryGetValue("Mean", out object? mean)
            ? mean : null;
        if (value is not null && counter["Name"] is string name)
        {
            lock (_gate)
            {
                if (_isCounting)
                {
                    Take(name, Convert.ToDouble(value, System.Globalization.CultureInfo.InvariantCulture),
                        Convert.ToDouble(counter["IntervalSec"], System.Globalization.CultureInfo.InvariantCulture));
                }
            }
        }
    }

    private void Take(string name, double value, double seconds)
    {
        switch (name)
        {
            case "gen-0-gc-count":
                _evidence = _evidence with { Gen0 = _evidence.Gen0 + (long)value };
                break;
            case "gen-1-gc-count":
                _evidence = _evidence with { Gen1 = _evidence.Gen1 + (long)value };
                break;
            case "gen-2-gc-count":
                _evidence = _evidence with { Gen2 = _evidence.Gen2 + (long)value };
                break;
            case "total-pause-time-by-gc":
                _evidence = _evidence with { PauseMilliseconds = _evidence.PauseMilliseconds + value };
                break;
            case "alloc-rate":
                _allocated += value;
                _evidence = _evidence with { Seconds = _evidence.Seconds + seconds };
                break;
            case "threadpool-queue-length":
                _evidence = _evidence with { MostQueuedWorkItems = Math.Max(_evidence.MostQueuedWorkItems, value) };
                break;
            case "threadpool-thread-count":
                _evidence = _evidence with { MostPoolThreads = Math.Max(_evidence.MostPoolThreads, value) };
                break;
            case "monitor-lock-contention-count":
                _evidence = _evidence with { LockContentions = _evidence.LockContentions + (long)value };
                break;
            case "exception-count":
                _evidence = _evidence with { Exceptions = _evidence.Exceptions + (long)value };
                break;
            case "gc-heap-size":
                _evidence = _evidence with { MostGcHeapMegabytes = Math.Max(_evidence.MostGcHeapMegabytes, value) };
                break;
            default:
                break;
        }
    }
}
