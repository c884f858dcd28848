namespace Net.Zlink.Services;

/// <summary>What one connection to a registry has brought: of a discovery, or of a registry to its peer.</summary>
public sealed record RegistryView
{
    /// <summary>The endpoint that was connected.</summary>
    public required string Endpoint { get; init; }

    /// <summary>Whether the connection is there now.</summary>
    public required bool IsConnected { get; init; }

    /// <summary>The number of the registry; 0 before its first list.</summary>
    public uint RegistryId { get; init; }

    /// <summary>The number of its last list.</summary>
    public ulong Sequence { get; init; }

    /// <summary>When its last list came; null before the first one.</summary>
    public DateTimeOffset? LastListAt { get; init; }

    /// <summary>How many services its last list had.</summary>
    public int Services { get; init; }

    /// <summary>How many instances its last list had.</summary>
    public int Instances { get; init; }
}
