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

/// <summary>
/// Lets a receiver that has emptied its queue pause, so that the next take finds several messages: handing over one at a time slows both
/// threads to 0.5 us a message. A pause that brought one message is skipped for a while, then for twice as long. Never on a shard.
/// </summary>
internal struct BatchingPause
{
    // About 2 us (one pause is 37 ns), in which a sender adds some fifty short messages. Messages of 64 bytes: 40 (PUBSUB) and 26 (PAIR)
    // million a second with the pause, 27 and 16 without.
    private const int Pauses = 56;

    // Dequeuing fewer messages one by one costs about as much as the pause.
    private const int Worthwhile = 4;

    private const int MaxSkips = 1024;

    private static readonly bool HasOthers = Environment.ProcessorCount > 1;

    private int _skips;
    private int _skipsLeft;

    [SuppressMessage("ApiDesign", "RS0030", Justification = "A thread of the application in a blocking call; never a shard.")]
    public bool Make()
    {
        if (_skipsLeft > 0)
        {
            _skipsLeft--;
            return false;
        }

        if (!HasOthers || ShardLoop.Current is not null)
        {
            return false;
        }

        Thread.SpinWait(Pauses);
        return true;
    }

    public void Report(int messages) => _skipsLeft = _skips = messages >= Worthwhile ? 0 : Math.Clamp(_skips * 2, 1, MaxSkips);
}
