namespace Net.Zlink.Services;

/// <summary>How a <see cref="ServiceClient"/> chooses among the receivers that are ready.</summary>
public enum LoadBalancing
{
    /// <summary>Each in turn, in the order of the bytes of their endpoints. The default.</summary>
    RoundRobin = 0,

    /// <summary>Each in turn, so many messages in a row as its weight says, in the order of the native core: weights 3, 1, 2 give A A A B C
    /// C.</summary>
    Weighted = 1,

    /// <summary>Of two that are taken at random the one that has fewer unanswered requests for its weight. Plain messages count nothing:
    /// for them it is a random choice. A receiver whose handlers fail at once has few unanswered requests and is chosen more often: of four
    /// it gets 40 in 100. That is meant: a failure is an answer, and may be the request's own fault. Leave such a receiver out by a circuit
    /// breaker, or drain it.</summary>
    LeastOutstanding = 2,
}

/// <summary>The rules by which a counter and the receivers that are ready give the next receiver. Without state; the counter is the
/// service's.</summary>
internal static class ReceiverChoice
{
    /// <summary>Turn number <paramref name="counter"/> modulo the number of receivers.</summary>
    public static int RoundRobin(ulong counter, int receivers) => (int)(counter % (uint)receivers);

    /// <summary>The first receiver whose weights, summed up to it, are above the counter modulo all weights. Bursts, as in the native
    /// core.</summary>
    /// <param name="counter">Number of the turn.</param>
    /// <param name="weightsUpTo">For each receiver its own weight and those before it.</param>
    public static int Weighted(ulong counter, ReadOnlySpan<ulong> weightsUpTo)
    {
        ulong slot = counter % weightsUpTo[^1];
        int found = weightsUpTo.BinarySearch(slot + 1);
        return found >= 0 ? found : ~found;
    }

    /// <summary>Two different receivers, each as likely as any other.</summary>
    /// <param name="counter">Number of the turn.</param>
    /// <param name="receivers">How many there are, 2 or more.</param>
    public static (int First, int Second) Two(ulong counter, int receivers)
    {
        ulong random = Mixed(counter);
        int first = (int)((uint)random % (uint)receivers);
        int second = (int)((uint)(random >> 32) % (uint)(receivers - 1));
        return (first, second < first ? second : second + 1);
    }

    /// <summary>Whether the first of two has no more work for its weight. The message that is about to be sent counts, so that the heavier
    /// one of two idle receivers is preferred.</summary>
    public static bool HasNoMore(long outstanding, uint weight, long otherOutstanding, uint otherWeight) =>
        (Int128)(outstanding + 1) * otherWeight <= (Int128)(otherOutstanding + 1) * weight;

    // The finalizer of splitmix64: neighbouring counters give independent numbers, without a generator that threads would share.
    private static ulong Mixed(ulong value)
    {
        value += 0x9E3779B97F4A7C15;
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
        return value ^ (value >> 31);
    }
}
