using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Engine;

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
