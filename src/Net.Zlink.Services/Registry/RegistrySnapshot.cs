namespace Net.Zlink.Services;

/// <summary>An entry of a registry.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Instance">What is listed.</param>
/// <param name="OwnerId">The registry where it is registered.</param>
/// <param name="RegisteredAt">When it was registered here; null for an entry of a peer.</param>
/// <param name="LastHeartbeatAt">When it last gave a sign of life here; null for an entry of a peer.</param>
public sealed record RegistryEntry(ServiceKind Kind, ServiceInstance Instance, uint OwnerId, DateTimeOffset? RegisteredAt,
    DateTimeOffset? LastHeartbeatAt);

/// <summary>The state of a registry at one moment. Counters count from its start.</summary>
public sealed record RegistrySnapshot
{
    /// <summary>The number of the registry.</summary>
    public required uint Id { get; init; }

    /// <summary>The number of its present list.</summary>
    public required ulong Sequence { get; init; }

    /// <summary>All entries, in the order of the list.</summary>
    public required IReadOnlyList<RegistryEntry> Entries { get; init; }

    /// <summary>How many of <see cref="Entries"/> are registered here.</summary>
    public required int OwnEntries { get; init; }

    /// <summary>The connections to its peers.</summary>
    public required IReadOnlyList<RegistryView> Peers { get; init; }

    /// <summary>Discoveries and peers that are connected to its publisher.</summary>
    public required int Subscribers { get; init; }

    /// <summary>Connections of receivers and nodes to its router.</summary>
    public required int Clients { get; init; }

    /// <summary>Requests read from its router, those that mean nothing included.</summary>
    public required long Requests { get; init; }

    /// <summary>Requests that were answered with another status than 0, and UNREGISTER and HEARTBEAT of who is not the owner.</summary>
    public required long RefusedRequests { get; init; }

    /// <summary>Requests that mean nothing, and lists of peers that are malformed.</summary>
    public required long MalformedMessages { get; init; }

    /// <summary>Entries that expired.</summary>
    public required long ExpiredEntries { get; init; }

    /// <summary>Lists sent: one for each broadcast and each answer to a new subscriber.</summary>
    public required long ListsSent { get; init; }

    /// <summary>Lists of peers that were taken.</summary>
    public required long PeerLists { get; init; }
}

/// <summary>What one connection to a registry has brought: of a discovery, or of a registry to its peer.</summary>
public sealed record RegistryView
{
    /// <summary>The endpoint that was connected.</summary>
    public required string Endpoint { get; init; }

    /// <summary>Whether the connection is there now.</summary>
    public required bool IsConnected { get; init; }

    /// <summary>Of a discovery: why the last connection ended or could not be made, such as a list over a limit of its socket. Null while
    /// connected, and where there is nothing to say.</summary>
    public string? WhyNotConnected { get; init; }

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

/// <summary>What happened at a registry.</summary>
public enum RegistryEventType
{
    /// <summary>An instance registered here that was not registered here before.</summary>
    Registered,

    /// <summary>An own entry, or a peer's, has another routing id or weight.</summary>
    Updated,

    /// <summary>An own entry was removed by UNREGISTER, or by <see cref="Registry.Remove"/>.</summary>
    Unregistered,

    /// <summary>An own entry was removed: no heartbeat for <see cref="RegistryOptions.HeartbeatTimeout"/>.</summary>
    Expired,

    /// <summary>
    /// A request was refused; <see cref="RegistryEvent.Text"/> says why. Of one connection the first, second, fourth and so on is reported.
    /// </summary>
    Refused,

    /// <summary>An entry came from a peer.</summary>
    Learned,

    /// <summary>An entry that came from a peer is not listed any more.</summary>
    Lost,

    /// <summary>The first list of a connection to a peer came.</summary>
    PeerUp,

    /// <summary>What a connection to a peer had brought was dropped; <see cref="RegistryEvent.Text"/> says why.</summary>
    PeerDown,

    /// <summary>Another registry uses the number of this one: they ignore each other until one of them gets another number.</summary>
    IdConflict,

    /// <summary>The list is full, and entries of a peer are left out until the list has space.</summary>
    ListFull,
}

/// <summary>Something that happened at a registry.</summary>
/// <param name="Type">What happened.</param>
/// <param name="At">When, by the clock of the context.</param>
/// <param name="RegistryId">Whose entry it is, or which peer.</param>
/// <param name="Kind">What the entry is; <see cref="ServiceKind.None"/> for peers.</param>
/// <param name="Instance">The entry as it is, or was at last; null for peers.</param>
/// <param name="Text">An explanation; may be empty.</param>
public sealed record RegistryEvent(
    RegistryEventType Type,
    DateTimeOffset At,
    uint RegistryId,
    ServiceKind Kind = ServiceKind.None,
    ServiceInstance? Instance = null,
    string Text = "");
