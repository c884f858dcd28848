using System.Diagnostics;
using System.Globalization;
using System.Net;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Load;

/// <summary>Drives one server through one scenario: connects, warms up, measures, drains, and judges.</summary>
internal sealed class LoadClient(ScenarioSettings settings, string scenarioId, Action<LoadProgress>? progress = null) : IDisposable
{
    // Between two looks at what is still missing. Nothing is sent any more, so it costs nobody anything.
    private static readonly TimeSpan DrainLook = TimeSpan.FromMilliseconds(5);

    // A second reply to the last message has this long to be seen.
    private static readonly TimeSpan ForStrays = TimeSpan.FromMilliseconds(50);

    // The runner looks at what the server used when it hears that the window is over: what comes then is not in it.
    private static readonly TimeSpan ForRunner = TimeSpan.FromMilliseconds(100);

    private readonly LoadState _state = new(settings);
    private List<ILoadConnection> _connections = [];

    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async Task<LoadReport> RunAsync(Address address, CancellationToken cancellation)
    {
        IPEndPoint endPoint = await address.ResolveAsync(cancellation);
        var connector = new Connector(address, endPoint, _state);
        await using var ticker = new LoadTicker(settings, _state, connector, progress);
        _connections = await connector.ConnectAllAsync(cancellation);
        ticker.Connected(_connections);
        MeasuredWindow window = settings.Scenario == Scenario.S1 ? await HoldAsync(ticker, cancellation)
            : await LoadAsync(ticker, cancellation);
        if (settings.InFlight == 0)
        {
            await Task.Delay(ForRunner, cancellation);
            Probe();
        }

        bool isDrained = await DrainAsync(ticker, cancellation);

        // Counted before the client itself ends connections, and with the servers' last replies in.
        long sent = _connections.Sum(static connection => connection.Sent);
        long replies = _state.Replies;
        string errors = _state.ErrorsByErrno;
        long lost = _state.LostConnections;
        string? fault = WhyUnanswered();
        foreach (ILoadConnection connection in _connections)
        {
            connection.End();
        }

        LatencyHistogram latencies = settings.Scenario == Scenario.S1 ? connector.Times : _state.Latencies();
        const double NanosecondsPerMicrosecond = 1000;
        double seconds = window.Elapsed.TotalSeconds;
        double throughput = settings.Scenario == Scenario.S1 ? connector.Succeeded / connector.Elapsed.TotalSeconds : seconds > 0
            ? window.Replies / seconds : 0;
        var row = new ResultRow
        {
            ScenarioId = scenarioId,
            Transport = address.Transport,
            Ccu = settings.Connections,
            InFlight = settings.InFlight,
            Size = settings.Size,
            ConnectSuccess = connector.Succeeded,
            ConnectFail = connector.Failed,
            ConnectTimeout = connector.TimedOut,
            Sent = sent,
            Recv = replies,
            Throughput = throughput,
            P50 = latencies.Percentile(50) / NanosecondsPerMicrosecond,
            P95 = latencies.Percentile(95) / NanosecondsPerMicrosecond,
            P99 = latencies.Percentile(99) / NanosecondsPerMicrosecond,
            DrainTimeout = isDrained ? 0 : 1,
            GatingViolation = _state.Gating.Total,
            ErrorsByErrno = errors,
        };
        var detail = new ClientDetail
        {
            ConnectSeconds = connector.Elapsed.TotalSeconds,
            MeasuredSeconds = seconds,
            MinMicroseconds = latencies.Min / NanosecondsPerMicrosecond,
            MeanMicroseconds = latencies.Mean / NanosecondsPerMicrosecond,
            P999Microseconds = latencies.Percentile(99.9) / NanosecondsPerMicrosecond,
            MaxMicroseconds = latencies.Max / NanosecondsPerMicrosecond,
            Timed = latencies.Count,
            LatencyCurve = latencies.Curve(),
            Gating = _state.Gating,
            LostConnections = lost,
            CpuSeconds = window.CpuSeconds,
            CpuMicrosecondsPerMessage = window.Replies == 0 ? 0 : window.CpuSeconds * 1e6 / window.Replies,
            BusyPercent = seconds > 0 ? window.CpuSeconds * 100 / (seconds * Environment.ProcessorCount) : 0,
            PeakMegabytes = ProcessUse.PeakMegabytes(),
            Samples = ticker.Samples,
        };
        return new LoadReport(row, detail, fault);
    }

    public void Dispose() => _state.Dispose();

    /// <summary>A connection that nobody sent anything on need not have been accepted: the kernel makes it without the server. One message
    /// on each shows that it is served.</summary>
    private void Probe()
    {
        foreach (ILoadConnection connection in _connections)
        {
            connection.Probe();
        }
    }

    /// <summary>In s1 the columns tell of replies that are missing, and not what that means.</summary>
    private string? WhyUnanswered()
    {
        int unanswered = settings.InFlight > 0 ? 0 : _connections.Count(static connection => connection.InFlight > 0 && !connection.IsOver);
        return unanswered == 0
            ? null
            : string.Create(CultureInfo.InvariantCulture,
                $"{unanswered} of {_connections.Count} connections did not answer the one message that each is sent at the end, within "
                + $"{settings.DrainTimeoutSeconds} s: the server does not echo, or it never accepted them, and only the kernel did");
    }

    private async Task<MeasuredWindow> HoldAsync(LoadTicker ticker, CancellationToken cancellation)
    {
        // Reading, for the end of a connection to be seen; sending, nothing.
        foreach (ILoadConnection connection in _connections)
        {
            connection.Start();
        }

        ticker.Enter(LoadPhase.Measure);
        long start = Stopwatch.GetTimestamp();
        TimeSpan cpu = ProcessUse.Cpu();
        await RunForAsync(settings.MeasureSeconds, cancellation);
        var window = new MeasuredWindow(Stopwatch.GetElapsedTime(start), 0, (ProcessUse.Cpu() - cpu).TotalSeconds);
        ticker.Enter(LoadPhase.Drain);
        return window;
    }

    private async Task<MeasuredWindow> LoadAsync(LoadTicker ticker, CancellationToken cancellation)
    {
        // What connecting left behind is not collected in the middle of the measurement.
        GC.Collect();
        ticker.Enter(LoadPhase.Warmup);
        _state.IsSending = true;
        foreach (ILoadConnection connection in _connections)
        {
            connection.Start();
        }

        await RunForAsync(settings.WarmupSeconds, cancellation);
        ticker.Enter(LoadPhase.Measure);
        TimeSpan cpu = ProcessUse.Cpu();
        long before = _state.Replies;
        long start = Stopwatch.GetTimestamp();
        _state.MeasureFrom = start;
        await RunForAsync(settings.MeasureSeconds, cancellation);
        long end = Stopwatch.GetTimestamp();
        long replies = _state.Replies - before;
        _state.MeasureUntil = end;
        _state.IsSending = false;
        var window = new MeasuredWindow(Stopwatch.GetElapsedTime(start, end), replies, (ProcessUse.Cpu() - cpu).TotalSeconds);
        ticker.Enter(LoadPhase.Drain);
        return window;
    }

    /// <summary>Waits; less, when no connection is left that could bring anything.</summary>
    private async Task RunForAsync(double seconds, CancellationToken cancellation)
    {
        using var look = new PeriodicTimer(DrainLook);
        long start = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(start).TotalSeconds < seconds && _state.LostConnections < _connections.Count)
        {
            await look.WaitForNextTickAsync(cancellation);
        }
    }

    /// <summary>Waits for the replies that are missing; false if the time is over.</summary>
    private async Task<bool> DrainAsync(LoadTicker ticker, CancellationToken cancellation)
    {
        using var look = new PeriodicTimer(DrainLook);
        long start = Stopwatch.GetTimestamp();
        while (_connections.Exists(static connection => connection.InFlight > 0 && !connection.IsOver))
        {
            if (Stopwatch.GetElapsedTime(start).TotalSeconds >= settings.DrainTimeoutSeconds)
            {
                ticker.Enter(LoadPhase.Done);
                return false;
            }

            await look.WaitForNextTickAsync(cancellation);
        }

        await Task.Delay(ForStrays, cancellation);
        ticker.Enter(LoadPhase.Done);
        return true;
    }

    private readonly record struct MeasuredWindow(TimeSpan Elapsed, long Replies, double CpuSeconds);
}

/// <summary>What a client has to say at the end.</summary>
/// <param name="Row">The columns.</param>
/// <param name="Client">What is in no column.</param>
/// <param name="Fault">What was wrong, where the columns do not say it in words.</param>
internal sealed record LoadReport(ResultRow Row, ClientDetail Client, string? Fault = null);
