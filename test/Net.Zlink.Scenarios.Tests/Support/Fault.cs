namespace Net.Zlink.Scenarios.Tests.Support;

/// <summary>What is wrong with a <see cref="FaultyServer"/>. Each happens on every connection, at its second message if not said
/// otherwise.</summary>
public enum Fault
{
    /// <summary>Nothing.</summary>
    None,

    /// <summary>It answers all but one.</summary>
    Drops,

    /// <summary>It answers the next one first.</summary>
    Reorders,

    /// <summary>It answers twice.</summary>
    Duplicates,

    /// <summary>It answers no more.</summary>
    Stalls,

    /// <summary>It resets the connection.</summary>
    Resets,

    /// <summary>It ends the connection in order.</summary>
    Ends,

    /// <summary>It answers what was never sent.</summary>
    Invents,

    /// <summary>It answers with another connection's number.</summary>
    Confuses,

    /// <summary>It changes the last byte.</summary>
    ChangesTheEnd,

    /// <summary>It changes a byte in the middle of every message.</summary>
    ChangesTheMiddle,

    /// <summary>It answers with a byte more.</summary>
    Lengthens,
}
