using Net.Zlink.Flow;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>The alarms of a poller's asynchronous waits that have a limit: one that goes off has all waits look again, and the one whose
/// time has passed ends.</summary>
/// <remarks>In real time, as blocking waits are: a poller belongs to no context, which would have a clock. One alarm is kept, so that a
/// loop of waits allocates none.</remarks>
internal sealed class PollSignals
{
    // No timer of the runtime takes more than 49 days. Whoever waits longer looks once a day.
    private static readonly TimeSpan s_longest = TimeSpan.FromDays(1);

    private ITimer? _cached;

    /// <summary>One that is not set.</summary>
    public ITimer Rent(ReadinessWait wait) => Interlocked.Exchange(ref _cached, null) ?? New(wait);

    /// <summary>It goes off once, when so much time has passed and not before: timers count whole milliseconds. Null, of a wait without a
    /// limit: nothing does.</summary>
    public static void Set(ITimer? alarm, TimeSpan left) =>
        alarm?.Change(left < s_longest ? TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds)) : s_longest,
            Timeout.InfiniteTimeSpan);

    /// <summary>Gives it back. If it is just going off, some wait looks once for nothing.</summary>
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

    // A method of its own: the closure would be made for each Take otherwise.
    private static ITimer New(ReadinessWait wait) => DefaultContext.Run(() =>
        TimeProvider.System.CreateTimer(static wait => ((ReadinessWait)wait!).OnMayBeReady(), wait, Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan));
}
