namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>How a file is played.</summary>
internal enum Variant
{
    /// <summary>As recorded: one write per record.</summary>
    Plain,

    /// <summary>Every byte of the played side is a segment of its own, and is read before the next.</summary>
    Split,

    /// <summary>All that the played side may send without waiting for an answer within a step goes out in one write.</summary>
    Merged,

    /// <summary>Once per byte of the played side: the connection ends right behind it.</summary>
    Severed,
}

/// <param name="Variant">How the played side's bytes are cut into writes.</param>
/// <param name="Guard">Real time after which something expected is said not to come. Never waited for when all is well.</param>
internal sealed record ReplayOptions(Variant Variant, TimeSpan Guard)
{
    /// <summary>Generous: a machine under load may stand still for seconds.</summary>
    public static readonly TimeSpan DefaultGuard = TimeSpan.FromSeconds(10);

    public ReplayOptions(Variant variant)
        : this(variant, DefaultGuard)
    {
    }

    /// <summary>How much of long runs is left out.</summary>
    public Sampling Sampling { get; init; } = Sampling.Default;

    /// <summary>Severed: the connection and the number of the byte behind which it ends.</summary>
    public Cut? Cut { get; init; }
}

/// <param name="Connection">The connection that is cut.</param>
/// <param name="Bytes">How many bytes the played side has sent on it by then.</param>
internal readonly record struct Cut(int Connection, int Bytes);
