using System.Collections;
using System.Reflection;
using Microsoft.Extensions.Time.Testing;

namespace Net.Zlink.Tests.Support;

/// <summary>
/// A clock that stands still until a test moves it, and says which timers are set. <see cref="Advance"/> stops at each due time on the way,
/// so that a timer sees its own: when it returns, all that became due has run.
/// </summary>
internal sealed class ManualTimeProvider(DateTimeOffset start) : FakeTimeProvider(start)
{
    // FakeTimeProvider keeps to itself what is set. Tests ask whether something is scheduled, or whether a disposed object left nothing.
    private const BindingFlags Hidden = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
    private static readonly FieldInfo Waiters = typeof(FakeTimeProvider).GetField("Waiters", Hidden)!;
    private static readonly Type Waiter = Waiters.FieldType.GetGenericArguments()[0];
    private static readonly PropertyInfo WakeupTime = Waiter.GetProperty("WakeupTime", Hidden)!;
    private static readonly FieldInfo State = Waiter.GetField("_state", Hidden)!;

    public ManualTimeProvider()
        : this(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero))
    {
    }

    /// <summary>How far the clock was moved.</summary>
    public TimeSpan Elapsed => GetUtcNow() - Start;

    /// <summary>How many timers are set to fire. The one that looks after a context's shards is not among them: it ticks while one has
    /// work and is no sign of anything.</summary>
    public int ArmedTimers => DueTimes(areWatchdogs: false).Length;

    /// <summary>When the next timer fires that is no watchdog's, as a time since the clock's start; null without one.</summary>
    public TimeSpan? NextDue => DueTimes(areWatchdogs: false) is { Length: > 0 } times ? times.Min() : null;

    /// <summary>Whether a context looks after its shards.</summary>
    public bool HasWatchdog => DueTimes(areWatchdogs: true).Length > 0;

    /// <summary>
    /// Moves the clock forward and fires what becomes due, timers that the callbacks set included. It does not stop for a watchdog:
    /// stopping the clock at each of its seconds would leave shards that are told of a timer on the way at work while the clock goes on.
    /// </summary>
    public new void Advance(TimeSpan by)
    {
        TimeSpan end = Elapsed + by;
        while (NextDue is { } due && due <= end)
        {
            // What is due at once, or on another thread at this moment, is there until it has run.
            AdvanceTo(due);
        }

        AdvanceTo(end);
    }

    private void AdvanceTo(TimeSpan time)
    {
        TimeSpan step = time - Elapsed;
        base.Advance(step > TimeSpan.Zero ? step : TimeSpan.Zero);
    }

    private TimeSpan[] DueTimes(bool areWatchdogs)
    {
        object waiters = Waiters.GetValue(this)!;
        lock (waiters)
        {
            // By its name, since projects that do not see the library's inside compile this file as well.
            return [.. ((IEnumerable)waiters).Cast<object>()
                .Where(waiter => State.GetValue(waiter)?.GetType().Name is "ShardWatchdog" == areWatchdogs)
                .Select(waiter => TimeSpan.FromTicks((long)WakeupTime.GetValue(waiter)! - Start.Ticks))];
        }
    }
}
