namespace Net.Zlink.Conformance.Tests.Replay.Model;

/// <summary>One end of a transcript: a socket type, or RAW for a scripted peer.</summary>
internal sealed record Side(string Name, string Type, SideRole Role, IReadOnlyList<SideOption> Options, string? Transport, string? Endpoint)
{
    public const string RawType = "RAW";
    public const string Tcp = "tcp";
    public const string Ws = "ws";

    public bool IsRaw => string.Equals(Type, RawType, StringComparison.Ordinal);
}

internal enum SideRole
{
    Bind,
    Connect,
}

/// <summary>An option set before bind or connect, in the file's order; a list in the file is one of these per element.</summary>
internal sealed record SideOption(string Name, OptionValue Value);

/// <summary>What an option is set to: bytes or a number, by the option's own type.</summary>
internal sealed record OptionValue(OptionKind Kind, long Number, byte[] Bytes)
{
    public static OptionValue Of(byte[] bytes) => new(OptionKind.Bytes, 0, bytes);

    public static OptionValue Of(OptionKind kind, long number) => new(kind, number, []);
}

internal enum OptionKind
{
    Bytes,
    Int32,
    Int64,
}
