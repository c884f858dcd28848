using Net.Zlink.Flow;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>In real time, as blocking waits: a poller has no context with a clock.</summary>
internal sealed class PollSignals
{
    // The runtime's timers are limited to 49 days. Longer waits check once a day.
    private static readonly TimeSpan s_longest = TimeSpan.FromDays(1);

    private ITimer? _cached;

    public ITimer Rent(ReadinessWait wait) => Interlocked.Exchange(ref _cached, null) ?? New(wait);

    /// <summary>Sets it to fire once after this time, not before: timers count whole milliseconds.</summary>
    public static void Set(ITimer? alarm, TimeSpan left) =>
        alarm?.Change(left < s_longest ? TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds)) : s_longest,
            Timeout.InfiniteTimeSpan);

    /// <summary>An alarm that is just firing makes a wait check once more than needed.</summary>
    public void Return(ITimer? alarm)
    {
        if (alarm is null)
        {
            return;
        }

        alarm.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        if (Interlocked.CompareExchange(ref _cached, alarm, null) is not null)
        {
            alarm.Dispose();
        }
    }

    // A method of its own: otherwise each Rent would allocate the closure.
    private static ITimer New(ReadinessWait wait) => DefaultContext.Run(() =>
        TimeProvider.System.CreateTimer(static wait => ((ReadinessWait)wait!).OnMayBeReady(), wait, Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan));
}
