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

    /// <summary>ws: the HTTP head that the bytes begin with; null for none.</summary>
    public RecordedHead? Http { get; init; }

    /// <summary>ws: the payload of its data frames, unmasked and joined; null where it has none, or is broken.</summary>
    public byte[]? Payload { get; init; }

    /// <summary>ws: its control frames.</summary>
    public IReadOnlyList<ControlFrame> Control { get; init; } = [];

    /// <summary>ws: its frames are masked.</summary>
    public bool Masked { get; init; }
}

/// <summary>A head of <paramref name="Length"/> bytes, and what is compared of it. In the headers KEY, ACCEPT and PORT stand for what
/// differs on every run.</summary>
internal sealed record RecordedHead(int Length, string? Method, string? Path, int? Status, IReadOnlyDictionary<string, string> Headers)
{
    public const string Key = "KEY";
    public const string Accept = "ACCEPT";
    public const string Port = "PORT";
}

/// <summary>A control frame: close, ping or pong.</summary>
internal sealed record ControlFrame(string Op, byte[] Payload);

/// <summary>Bytes that differ on every run. The same <paramref name="Id"/> is the same value everywhere in a file; without one the bytes
/// are not compared.</summary>
internal sealed record RandomField(int Part, int Offset, int Length, string? Id);
