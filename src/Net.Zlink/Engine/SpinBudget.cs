using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Engine;

/// <summary>How long a blocking call looks for its result before it blocks: as long as that has paid lately. Waking a blocked thread costs 20 to 50 us, more than a round trip on the same machine takes.</summary>
/// <remarks>Used by threads of the application only, never on a shard. Races between threads on one budget only make it less exact.</remarks>
internal struct SpinBudget
{
    // A local peer answers within 10 to 30 us; past this a wake-up is the smaller part of the wait.
    private static readonly long MaxSpins = Environment.ProcessorCount > 1 ? Stopwatch.Frequency * 40 / 1_000_000 : 0;

    // So that a budget that has been wasted still finds out when answers come fast again.
    private static readonly long MinSpins = MaxSpins / 20;

    private long _ticks;

    /// <summary>Looks until <paramref name="isReady"/> says so or the budget is used up.</summary>
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
            // About 0.3 us between two looks, which leaves the cache line to the thread that is to change it.
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
