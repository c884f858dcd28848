using Microsoft.Diagnostics.Tracing.Etlx;
using Microsoft.Diagnostics.Tracing.EventPipe;
using Microsoft.Diagnostics.Tracing.Parsers;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

namespace Net.Zlink.Benchmarks.Profile;

/// <summary>Reads a .nettrace into a <see cref="TraceSummary"/>.</summary>
internal sealed class TraceReader
{
    private readonly TraceSummary _summary = new();
    private readonly StackNames _names = new();
    private readonly Dictionary<int, string> _contended = [];
    private readonly string? _find;
    private double _suspendedAt = double.NaN;

    private TraceReader(string? find)
    {
        _find = find;
        _summary.Sought = find;
    }

    public static TraceSummary Read(FileInfo file, string? find)
    {
        // The reader's index is of no use to anybody later.
        string index = TraceLog.CreateFromEventPipeDataFile(file.FullName);
        try
        {
            using var log = new TraceLog(index);
            var reader = new TraceReader(find);
            reader._summary.LostEvents = log.EventsLost;
            using TraceLogEventSource source = log.Events.GetSource();
            reader.Subscribe(source);
            source.Process();
            return reader._summary;
        }
        finally
        {
            File.Delete(index);
        }
    }

    private void Subscribe(TraceLogEventSource source)
    {
        new SampleProfilerTraceEventParser(source).ThreadSample += OnSample;
        ClrTraceEventParser clr = source.Clr;
        clr.GCStart += data => _summary.Collections[Math.Clamp(data.Depth, 0, 2)]++;
        clr.GCSuspendEEStart += data =>
        {
            // The profiler stops all threads too, for each sample: those stops are not the collector's.
            if (data.Reason is GCSuspendEEReason.SuspendForGC or GCSuspendEEReason.SuspendForGCPrep)
            {
                _suspendedAt = data.TimeStampRelativeMSec;
            }
        };
        clr.GCRestartEEStop += data => OnRestarted(data.TimeStampRelativeMSec);
        clr.ContentionStart += data => _contended[data.ThreadID] = PlaceOf(_names.Of(data.CallStack()));
        clr.ContentionStop += OnContention;
        clr.ExceptionStart += data => Increment(_summary.Exceptions, data.ExceptionType, 1);
        clr.ThreadPoolWorkerThreadAdjustmentAdjustment += data =>
        {
            Increment(_summary.PoolAdjustments, data.Reason.ToString(), 1);
            _summary.MostPoolThreads = Math.Max(_summary.MostPoolThreads, data.NewWorkerThreadCount);
        };
        clr.ThreadPoolWorkerThreadStart += data =>
            _summary.MostPoolThreads = Math.Max(_summary.MostPoolThreads, data.ActiveWorkerThreadCount);
        clr.GCAllocationTick += data =>
        {
            List<string> stack = _names.Of(data.CallStack());
            if (stack.Exists(method => method.StartsWith("System.Diagnostics.Tracing.", StringComparison.Ordinal)))
            {
                return; // The recording's own.
            }

            Increment(_summary.AllocatedTypes, data.TypeName, data.AllocationAmount64);
            _summary.Allocated.Add(stack, data.AllocationAmount64);
        };
    }

    private static void Increment(Dictionary<string, long> counts, string key, long by) => counts[key] = counts.GetValueOrDefault(key) + by;

    private void OnSample(ClrThreadSampleTraceData data)
    {
        List<string> stack = _names.Of(data.CallStack());
        if (stack.Count == 0)
        {
            return;
        }

        if (data.Type == ClrThreadSampleType.External)
        {
            if (WaitingFrames.IsWait(stack[0]))
            {
                _summary.WaitingSamples++;
                return;
            }

            // A system call, a lock's slow path, the collector: a row of its own below the method that called it.
            stack.Insert(0, StackNames.Native(stack[0]));
        }

        _summary.Running.Add(stack, 1);
        if (_find is not null)
        {
            OnSought(stack);
        }
    }

    /// <summary>Counts the nearest neighbours of the sought method, outermost match: what it calls, and who calls it.</summary>
    private void OnSought(List<string> stack)
    {
        int found = stack.FindLastIndex(method => method.Contains(_find!, StringComparison.OrdinalIgnoreCase));
        if (found >= 0)
        {
            _summary.Callees.Add([found == 0 ? "(itself)" : stack[found - 1]], 1);
            _summary.Callers.Add([found + 1 == stack.Count ? "(nobody)" : stack[found + 1]], 1);
        }
    }

    private void OnRestarted(double at)
    {
        if (double.IsNaN(_suspendedAt))
        {
            return;
        }

        double pause = at - _suspendedAt;
        _suspendedAt = double.NaN;
        _summary.PauseMilliseconds += pause;
        _summary.LongestPauseMilliseconds = Math.Max(_summary.LongestPauseMilliseconds, pause);
    }

    private void OnContention(ContentionStopTraceData data)
    {
        double milliseconds = data.DurationNs / 1_000_000;
        _summary.Contentions++;
        _summary.ContentionMilliseconds += milliseconds;

        // Only the start has a stack.
        _summary.Contended.Add([_contended.GetValueOrDefault(data.ThreadID, "(unknown)")], milliseconds);
    }

    /// <summary>The innermost method that is not the lock itself.</summary>
    private static string PlaceOf(List<string> stack) =>
        stack.Find(method => !method.StartsWith("System.Threading.", StringComparison.Ordinal)) ?? stack.FirstOrDefault() ?? "(unknown)";
}
