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
    /// for them it is a random choice.</summary>
    LeastOutstanding = 2,
}
