using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Engine;

/// <summary>
/// How long a blocking call polls before it blocks: adapts to whether polling paid. A wake-up costs 20 to 50 us, more than a local round
/// trip.
/// </summary>
internal struct SpinBudget
{
    // A local peer replies within 10 to 30 us; beyond this the wake-up is the smaller part.
    private static readonly long MaxSpins = Environment.ProcessorCount > 1 ? Stopwatch.Frequency * 40 / 1_000_000 : 0;

    private static readonly long MinSpins = MaxSpins / 20;

    private long _ticks;

    [SuppressMessage("ApiDesign", "RS0030", Justification = "A thread of the application that would block otherwise; never a shard.")]
    public bool Wait<TState>(TState state, Func<TState, bool> isReady)
    {
        long budget = Math.Clamp(Volatile.Read(ref _ticks), MinSpins, MaxSpins);
        if (budget == 0)
        {
            return false;
        }

        long end = Stopwatch.GetTimestamp() + budget;
        do
        {
            // About 0.3 us, which leaves the cache line to the thread that changes it.
            const int Pauses = 8;
            Thread.SpinWait(Pauses);
            if (isReady(state))
            {
                Volatile.Write(ref _ticks, Math.Min(MaxSpins, budget * 2));
                return true;
            }
        }
        while (Stopwatch.GetTimestamp() < end);

        Volatile.Write(ref _ticks, budget / 2);
        return false;
    }
}
