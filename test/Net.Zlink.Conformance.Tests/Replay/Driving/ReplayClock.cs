using System.Diagnostics;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>The time of one replay: it stands still but for what the replay moves it.</summary>
internal sealed class ReplayClock
{
    /// <summary>The clock goes on in pieces of 10 ms where timers decide, so that a timer that is set again from a callback finds the time it should.</summary>
    public const int Slice = 10;

    /// <summary>How long a timer is waited for, in real time: a thousand times what setting one takes. An implementation that sets none costs this once per wait.</summary>
    private static readonly TimeSpan TimerGuard = TimeSpan.FromSeconds(1);

    private readonly ManualTimeProvider _time = new();

    public TimeProvider Provider => _time;

    /// <summary>How many timers the implementation has set.</summary>
    public int ArmedTimers => _time.ArmedTimers;

    /// <summary>Milliseconds from the start of the replay.</summary>
    public long Elapsed { get; private set; }

    /// <summary>Until the implementation has set so many timers, or seems not to.</summary>
    public async Task AwaitTimersAsync(int count)
    {
        long start = Stopwatch.GetTimestamp();
        while (ArmedTimers < count && Stopwatch.GetElapsedTime(start) < TimerGuard)
        {
            await Task.Yield();
        }
    }

    public void Advance(long milliseconds)
    {
        Elapsed += milliseconds;
        _time.Advance(TimeSpan.FromMilliseconds(milliseconds));
    }
}
