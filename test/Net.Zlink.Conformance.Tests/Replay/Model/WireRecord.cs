namespace Net.Zlink.Conformance.Tests.Replay.Model;

/// <summary>Bytes that one side put on a connection, or the end of its sending.</summary>
internal sealed record WireRecord(string From, int Step, int Connection)
{
    /// <summary>The bytes; empty for a close.</summary>
    public byte[] Bytes { get; init; } = [];

    /// <summary>Null for bytes.</summary>
    public CloseKind? Close { get; init; }

    /// <summary>A close nobody was there to see: not waited for, not compared.</summary>
    public bool Assumed { get; init; }

    /// <summary>About when, in milliseconds from the start; null when time does not matter.</summary>
    public int? AtMs { get; init; }

    /// <summary>The scripted side sends pieces of that many bytes.</summary>
    public int? Segment { get; init; }

    public IReadOnlyList<RandomField> Random { get; init; } = [];
}

/// <summary>Bytes that differ on every run. The same <paramref name="Id"/> is the same value everywhere in a file; without one the bytes are not compared.</summary>
internal sealed record RandomField(int Part, int Offset, int Length, string? Id);
