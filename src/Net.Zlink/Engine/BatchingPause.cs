using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Engine;

/// <summary>Whether a receiver that has caught up with a sender in the same process leaves it alone for a moment, so that the two meet once for several messages instead of once for each.</summary>
/// <remarks>
/// Each meeting moves some ten cache lines between two processors, 0.1 us each where these share no cache: one message at a time, a faster receiver slows both down to 0.5 us a message. Whether a pause pays is tried:
/// one that brought a single message, as in a request and its answer, is not made again for a while, then for twice as long.
/// Used by threads of the application that block, never on a shard. Races between threads only make it less exact.
/// </remarks>
internal struct BatchingPause
{
    // About 2 us (a pause is 37 ns): a sender that nobody disturbs adds some fifty short messages meanwhile. Without it 64 bytes went at 27 (PUBSUB) and 16 (PAIR) million a second where they go at 40 and 26; with half or twice as much
    // at 38 to 41 and 26 to 31 (docs/benchmarks/log.md, "A line of the benchmark's own").
    private const int Pauses = 56;

    // Fewer are not worth it: taking so many one by one costs about as much as the pause.
    private const int Worthwhile = 4;

    // A request and its answer, one in 1,024 of which is 2 us late.
    private const int MaxSkips = 1024;

    private static readonly bool HasOthers = Environment.ProcessorCount > 1;

    private int _skips;
    private int _skipsLeft;

    /// <summary>Pauses, if that has paid lately. True: <see cref="Report"/> what it brought.</summary>
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

    /// <summary>So many messages were there after the pause.</summary>
    public void Report(int messages) => _skipsLeft = _skips = messages >= Worthwhile ? 0 : Math.Clamp(_skips * 2, 1, MaxSkips);
}
