using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;
using Samples;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>A place in the run, with one process after the other.</summary>
internal sealed class ChaosMember(ChaosSettings settings) : IAsyncDisposable
{
    // A start takes half a second; on a machine that is busy with something else far more.
    private static readonly TimeSpan s_startLimit = TimeSpan.FromSeconds(60);

    // A drain lasts 30 s at most.
    private static readonly TimeSpan s_endLimit = TimeSpan.FromSeconds(45);

    private readonly List<ChaosLife> _lives = [];
    private ChildProcess? _process;
    private Task _listening = Task.CompletedTask;
    private TaskCompletionSource _stopped = new();
    private long _begunBefore;
    private long _doneBefore;

    public ChaosRole Role => settings.Role;

    public string Name => settings.Name;

    /// <summary>What is being done to it; null: it runs.</summary>
    public string? Trouble { get; set; }

    /// <summary>What it said last.</summary>
    public ChaosStatus Status { get; private set; }

    public long Begun => _begunBefore + Status.Begun;

    public long Done => _doneBefore + Status.Done;

    /// <summary>All of its processes, with their logs.</summary>
    public IReadOnlyList<ChaosLife> ReadLives()
    {
        foreach (ChaosLife life in _lives)
        {
            life.Records = ChaosLog.Read((settings with { Life = life.Life }).LogFile);
        }

        return _lives;
    }

    /// <exception cref="InvalidOperationException">It did not start.</exception>
    public async Task StartAsync(CancellationToken cancellation)
    {
        (_begunBefore, _doneBefore, Status) = (Begun, Done, default);
        var life = new ChaosLife(Role, settings.Number, _lives.Count + 1);
        _lives.Add(life);
        (_process, _) = await ChildProcess.StartAsync(
            Self.StartInfo(inlineCompletions: false, ChaosRoleCommand.Name, "--settings", (settings with { Life = life.Life }).ToText()),
            ChildLines.Ready, s_startLimit, cancellation);
        _stopped = new TaskCompletionSource();
        _listening = ListenAsync(_process);
    }

    /// <exception cref="InvalidOperationException">It had ended by itself.</exception>
    public async Task KillAsync()
    {
        ThrowIfEnded();
        await DisposeAsync();
    }

    public async Task PauseAsync(TimeSpan time, CancellationToken cancellation)
    {
        ThrowIfEnded();
        long from = Stopwatch.GetTimestamp();
        await _process!.SignalAsync("STOP", cancellation);
        await Task.Delay(time, cancellation);
        await _process.SignalAsync("CONT", cancellation);
        _lives[^1].Pauses.Add((from, Stopwatch.GetTimestamp()));
    }

    /// <summary>No more load of it.</summary>
    public async Task StopLoadAsync(CancellationToken cancellation)
    {
        ThrowIfEnded();
        _process!.Send(ChaosRoleCommand.Stop);
        await _stopped.Task.WaitAsync(s_endLimit, cancellation);
        _lives[^1].IsLast = true;
    }

    /// <summary>It ends what it has begun, and itself.</summary>
    /// <exception cref="InvalidOperationException">It does not, or had ended before.</exception>
    public async Task EndAsync(CancellationToken cancellation)
    {
        ThrowIfEnded();
        _process!.EndInput();
        if (!await _process.WaitForExitAsync(s_endLimit, cancellation))
        {
            throw new InvalidOperationException(
                string.Create(CultureInfo.InvariantCulture, $"{Name} did not end within {s_endLimit.TotalSeconds:0} s"));
        }

        _lives[^1].EndedInOrder = true;
        string errors = _process.LastErrors;
        await DisposeAsync();
        if (errors.Length > 0)
        {
            throw new InvalidOperationException($"{Name} said: {errors}");
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_process is { } process)
        {
            _process = null;
            await process.DisposeAsync();
            await _listening;
        }
    }

    private void ThrowIfEnded()
    {
        if (_process is not { HasExited: false })
        {
            throw new InvalidOperationException($"{Name} has ended by itself: {_process?.LastErrors}");
        }
    }

    private async Task ListenAsync(ChildProcess process)
    {
        while (await process.ReadLineAsync("", Timeout.InfiniteTimeSpan, CancellationToken.None) is { } line)
        {
            if (line.StartsWith(ChildLines.Status, StringComparison.Ordinal))
            {
                long[] numbers = [.. line[ChildLines.Status.Length..].Split(' ')
                    .Select(static text => long.Parse(text, CultureInfo.InvariantCulture))];
                Status = new ChaosStatus(numbers[0], numbers[1], (int)numbers[2]);
            }
            else if (string.Equals(line, ChaosRoleCommand.Stopped, StringComparison.Ordinal))
            {
                _stopped.TrySetResult();
            }
        }
    }
}
