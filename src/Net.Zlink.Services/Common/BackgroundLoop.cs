using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>
/// Repeats an asynchronous turn on the thread pool until it is stopped, or the socket or context that the turn uses has ended. A turn
/// that fails is logged and counted, and the loop continues.
/// </summary>
internal sealed class BackgroundLoop : IAsyncDisposable
{
    // So that a turn that fails at once, for good, costs ten log entries a second and not a core.
    private static readonly TimeSpan DelayAfterFailure = TimeSpan.FromMilliseconds(100);

    private readonly CancellationTokenSource _stop = new();
    private readonly string _name;
    private readonly ILogger _logger;
    private readonly TimeProvider _clock;
    private readonly Func<CancellationToken, ValueTask> _turn;
    private long _failedTurns;

    private BackgroundLoop(string name, ILogger logger, TimeProvider clock, Func<CancellationToken, ValueTask> turn)
    {
        _name = name;
        _logger = logger;
        _clock = clock;
        _turn = turn;
        Completion = Task.Run(RunAsync);
    }

    /// <summary>Completes when the loop has ended; never fails.</summary>
    public Task Completion { get; }

    public long FailedTurns => Volatile.Read(ref _failedTurns);

    /// <summary>Starts a loop, whose name is for the log. The clock times the delay behind a failed turn.</summary>
    public static BackgroundLoop Start(string name, ILogger logger, TimeProvider clock, Func<CancellationToken, ValueTask> turn) =>
        new(name, logger, clock, turn);

    /// <summary>Cancels the turn; the loop ends when that returns.</summary>
    public void Stop()
    {
        if (!Completion.IsCompleted)
        {
            _stop.Cancel();
        }
    }

    /// <summary>Stops the loop and waits for its end.</summary>
    public async ValueTask DisposeAsync()
    {
        Stop();
        await Completion.ConfigureAwait(false);
    }

    private async Task RunAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                await _turn(_stop.Token).ConfigureAwait(false);
            }
            catch (Exception e) when (_stop.IsCancellationRequested
                || e is ObjectDisposedException or ZlinkException { Error: ZlinkError.ContextTerminated })
            {
                break;
            }
            catch (Exception e)
            {
                Interlocked.Increment(ref _failedTurns);
                ServicesLog.TryTurnFailed(_logger, e, _name);
                await Task.Delay(DelayAfterFailure, _clock, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }
}

internal static class TimerExtensions
{
    /// <summary>Calls the timer once, at once where the time is over; null: never.</summary>
    public static void ChangeDue(this ITimer timer, TimeSpan? due)
    {
        TimeSpan time = due is not { } given ? Timeout.InfiniteTimeSpan : given < TimeSpan.Zero ? TimeSpan.Zero : given;
        timer.Change(time, Timeout.InfiniteTimeSpan);
    }
}
