using System.Diagnostics;

namespace Net.Zlink.Engine;

/// <summary>What one shard counts. Written by the thread that runs the shard, read by anyone: single words, so a reader sees whole values.</summary>
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

    public void RecordTurn(long ticks, int works)
    {
        Turns++;
        BusyTicks += ticks;
        LongestTurnTicks = Math.Max(LongestTurnTicks, ticks);
        LargestTurnWorks = Math.Max(LargestTurnWorks, works);
    }

    /// <summary>A turn that was given to the thread pool begins: so long after it was asked for.</summary>
    public void RecordDelay(long ticks)
    {
        RunsFromPool++;
        DelayTicks += ticks;
        LongestDelayTicks = Math.Max(LongestDelayTicks, ticks);
    }

    public static TimeSpan ToTime(long ticks) => TimeSpan.FromSeconds(ticks / (double)Stopwatch.Frequency);
}
