using System.Diagnostics;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Load;

/// <summary>Says once a second how a load goes, and keeps what it said of the process.</summary>
internal sealed class LoadTicker : IAsyncDisposable
{
    private const double NanosecondsPerMicrosecond = 1000;
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly ScenarioSettings _settings;
    private readonly LoadState _state;
    private readonly Connector _connector;
    private readonly Action<LoadProgress>? _progress;
    private readonly ProcessSampler _sampler = new();
    private readonly List<ProcessSample> _samples = [];
    private readonly LatencyHistogram _latencies = new();
    private readonly LatencyHistogram _before = new();
    private readonly LatencyHistogram _now = new();
    private readonly CancellationTokenSource _end = new();
    private readonly Task _ticking;
    private List<ILoadConnection>? _connections;
    private LoadPhase _phase = LoadPhase.Connect;
    private long _repliesBefore;
    private long _at = Stopwatch.GetTimestamp();

    public LoadTicker(ScenarioSettings settings, LoadState state, Connector connector, Action<LoadProgress>? progress)
    {
        _settings = settings;
        _state = state;
        _connector = connector;
        _progress = progress;
        _ticking = Task.Run(TickAsync);
    }

    public IReadOnlyList<ProcessSample> Samples
    {
        get
        {
            lock (_gate)
            {
                return [.. _samples];
            }
        }
    }

    public void Connected(List<ILoadConnection> connections) => Volatile.Write(ref _connections, connections);

    /// <summary>A phase begins: said at once, because the runner measures the server from here.</summary>
    public void Enter(LoadPhase phase)
    {
        lock (_gate)
        {
            _phase = phase;
            Say(isPhaseStart: true);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await _ticking;
        _end.Dispose();
    }

    private async Task TickAsync()
    {
        using var timer = new PeriodicTimer(Interval);
        try
        {
            while (await timer.WaitForNextTickAsync(_end.Token))
            {
                lock (_gate)
                {
                    Say(isPhaseStart: false);
                }
            }
        }
        catch (OperationCanceledException)
        {
            // The end.
        }
    }

    private void Say(bool isPhaseStart)
    {
        long now = Stopwatch.GetTimestamp();
        double seconds = Stopwatch.GetElapsedTime(_at, now).TotalSeconds;
        long replies = _state.Replies;
        double rate = seconds > 0 ? (replies - _repliesBefore) / seconds : 0;
        double p99 = 0;
        if (_progress is not null && _settings.InFlight > 0 && !isPhaseStart)
        {
            // Into the same arrays each time: a client that collects its garbage while it measures would measure that.
            _now.Clear();
            _state.AddLatenciesTo(_now);
            _latencies.Clear();
            _latencies.Add(_now);
            _latencies.Subtract(_before);
            p99 = _latencies.Percentile(99) / NanosecondsPerMicrosecond;
            _before.Clear();
            _before.Add(_now);
        }

        (_repliesBefore, _at) = (replies, now);
        long lost = _state.LostConnections;
        long open = (Volatile.Read(ref _connections)?.Count ?? _connector.Succeeded) - lost;
        ProcessSample sample = _sampler.Take(open, lost);
        _samples.Add(sample);
        _progress?.Invoke(new LoadProgress(_phase, isPhaseStart, open, rate, p99, _state.Gating.Total, lost, sample));
    }
}
