using System.Diagnostics;

namespace Net.Zlink.Engine;

/// <summary>One shard's counters.</summary>
internal sealed class ShardCounters
{
    public long RunsInPlace;
    public long RunsFromPool;
    public long Helps;
    public long Works;
    public long Faults;
    public long Turns;
    public long LongestTurnTicks;
    public long BusyTicks;
    public long LargestTurnWorks;
    public long LongestDelayTicks;
    public long DelayTicks;
    public long LateRuns;
    public int Connections;
    private long _turnSince;
    private long _mostBusy;
    private long _mostLongest;

    public TimeSpan BusyTime
    {
        get
        {
            // The sum is read first: a turn that ends in between then counts less, not twice.
            long busy = Volatile.Read(ref BusyTicks);
            return ToTime(UpdateMax(ref _mostBusy, busy + TicksOfTurn));
        }
    }

    public TimeSpan LongestTurn
    {
        get
        {
            long longest = Volatile.Read(ref LongestTurnTicks);
            return ToTime(UpdateMax(ref _mostLongest, Math.Max(longest, TicksOfTurn)));
        }
    }

    private long TicksOfTurn => Volatile.Read(ref _turnSince) is var since and not 0 ? Math.Max(0, Stopwatch.GetTimestamp() - since) : 0;

    public void BeginTurn(long at) => Volatile.Write(ref _turnSince, at);

    public void RecordTurn(long ticks, int works)
    {
        Volatile.Write(ref _turnSince, 0);
        Turns++;
        Volatile.Write(ref BusyTicks, BusyTicks + ticks); // Visible only after the turn's end is.
        LongestTurnTicks = Math.Max(LongestTurnTicks, ticks);
        LargestTurnWorks = Math.Max(LargestTurnWorks, works);
    }

    public void RecordDelay(long ticks)
    {
        RunsFromPool++;
        DelayTicks += ticks;
        LongestDelayTicks = Math.Max(LongestDelayTicks, ticks);
    }

    private static long UpdateMax(ref long most, long value)
    {
        long seen = Volatile.Read(ref most);
        while (value > seen)
        {
            long before = Interlocked.CompareExchange(ref most, value, seen);
            if (before == seen)
            {
                return value;
            }

            seen = before;
        }

        return seen;
    }

    public static TimeSpan ToTime(long ticks) => TimeSpan.FromSeconds(ticks / (double)Stopwatch.Frequency);
}
