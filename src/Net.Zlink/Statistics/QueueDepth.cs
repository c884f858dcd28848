using System.Globalization;

namespace Net.Zlink;

/// <summary>The fill of a queue at one moment.</summary>
public readonly struct QueueDepth
{
    /// <summary>Whole messages.</summary>
    public long Messages { get; init; }

    /// <summary>Their bytes, with frame headers.</summary>
    public long Bytes { get; init; }

    /// <summary>Describes the fill for a log. The format may change.</summary>
    /// <returns>Both figures.</returns>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Messages} messages, {Bytes} bytes");
}
