namespace Net.Zlink.Services;

/// <summary>What a discovery has from one registry: a snapshot.</summary>
public sealed record RegistryView
{
    /// <summary>The registry's publisher endpoint, as it was given to <c>ConnectRegistry</c>; empty where its connection has ended and another one to the same endpoint is up.</summary>
    public required string Endpoint { get; init; }

    /// <summary>Whether the connection is up. False: its instances are shown until they are stale.</summary>
    public required bool IsConnected { get; init; }

    /// <summary>The number of the registry; null before its first list.</summary>
    public required uint? RegistryId { get; init; }

    /// <summary>The sequence number of the last list; 0 before the first.</summary>
    public required ulong Sequence { get; init; }

    /// <summary>When the last list came, repeated ones included; null before the first.</summary>
    public required DateTimeOffset? LastListAt { get; init; }

    /// <summary>How many services it lists, of the kind that the discovery looks for.</summary>
    public required int Services { get; init; }
}
