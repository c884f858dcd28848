using System.Globalization;

namespace Net.Zlink.Services;

/// <summary>An entry of a registry.</summary>
public sealed class RegistryEntry
{
    internal RegistryEntry(ServiceKind kind, ServiceInstance instance) => (Kind, Instance) = (kind, instance);

    /// <summary>What it is.</summary>
    public ServiceKind Kind { get; }

    /// <summary>What is listed.</summary>
    public ServiceInstance Instance { get; }

    /// <summary>The registry where it is registered.</summary>
    public uint OwnerId { get; internal init; }

    /// <summary>When it was registered here; null for an entry of a peer.</summary>
    public DateTimeOffset? RegisteredAt { get; internal init; }

    /// <summary>When it last gave a sign of life here; null for an entry of a peer.</summary>
    public DateTimeOffset? LastHeartbeatAt { get; internal init; }
}

/// <summary>The state of a registry at one moment. Counters count from its start.</summary>
public sealed class RegistrySnapshot
{
    internal RegistrySnapshot()
    {
    }

    /// <summary>The number of the registry.</summary>
    public uint Id { get; internal init; }

    /// <summary>The number of its present list.</summary>
    public ulong Sequence { get; internal init; }

    /// <summary>All entries, in the order of the list.</summary>
    public IReadOnlyList<RegistryEntry> Entries { get; internal init; } = [];

    /// <summary>How many of <see cref="Entries"/> are registered here.</summary>
    public int OwnEntries { get; internal init; }

    /// <summary>The connections to its peers.</summary>
    public IReadOnlyList<RegistryView> Peers { get; internal init; } = [];

    /// <summary>Discoveries and peers that are connected to its publisher.</summary>
    public int Subscribers { get; internal init; }

    /// <summary>Connections of receivers and nodes to its router.</summary>
    public int Clients { get; internal init; }

    /// <summary>Those of them whose requests wait for a decision of <see cref="ServiceRegistryOptions.Admission"/>.</summary>
    public int UndecidedClients { get; internal init; }

    /// <summary>Requests read from its router, those that mean nothing included.</summary>
    public long Requests { get; internal init; }

    /// <summary>Requests that were answered with another status than 0, and UNREGISTER and HEARTBEAT of who is not the owner.</summary>
    public long RefusedRequests { get; internal init; }

    /// <summary>Requests that mean nothing, and lists of peers that are malformed.</summary>
    public long MalformedMessages { get; internal init; }

    /// <summary>Entries that expired.</summary>
    public long ExpiredEntries { get; internal init; }

    /// <summary>Lists sent: one for each broadcast and each answer to a new subscriber.</summary>
    public long ListsSent { get; internal init; }

    /// <summary>Lists of peers that were taken.</summary>
    public long PeerLists { get; internal init; }
}

/// <summary>What one connection to a registry has brought: of a discovery, or of a registry to its peer.</summary>
public sealed class RegistryView
{
    internal RegistryView()
    {
    }

    /// <summary>The endpoint that was connected.</summary>
    public string Endpoint { get; internal init; } = "";

    /// <summary>Whether the connection is there now.</summary>
    public bool IsConnected { get; internal init; }

    /// <summary>Of a discovery: why the last connection ended or could not be made, such as a list over a limit of its socket. Null while
    /// connected, and where there is nothing to say.</summary>
    public string? WhyNotConnected { get; internal init; }

    /// <summary>The number of the registry; 0 before its first list.</summary>
    public uint RegistryId { get; internal init; }

    /// <summary>The number of its last list.</summary>
    public ulong Sequence { get; internal init; }

    /// <summary>When its last list came; null before the first one.</summary>
    public DateTimeOffset? LastListAt { get; internal init; }

    /// <summary>How many connections to registries are up, and how many are not.</summary>
    internal static IEnumerable<Reading> ConnectionStates(IEnumerable<RegistryView> registries) =>
        from count in registries.CountBy(static registry => registry.IsConnected)
        select Reading.InState(count.Value, count.Key ? "connected" : "disconnected");

    /// <summary>How many services its last list had.</summary>
    public int Services { get; internal init; }

    /// <summary>How many instances its last list had.</summary>
    public int Instances { get; internal init; }
}

/// <summary>What happened at a registry.</summary>
public enum RegistryEventType
{
    /// <summary>An instance registered here that was not registered here before.</summary>
    Registered,

    /// <summary>An own entry, or a peer's, has another routing id or weight.</summary>
    Updated,

    /// <summary>An own entry was removed by UNREGISTER, or by <see cref="ServiceRegistry.Remove"/>.</summary>
    Unregistered,

    /// <summary>An own entry was removed: no heartbeat for <see cref="ServiceRegistryOptions.HeartbeatTimeout"/>.</summary>
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
public sealed class RegistryEvent
{
    internal RegistryEvent()
    {
    }

    /// <summary>What happened.</summary>
    public RegistryEventType Type { get; internal init; }

    /// <summary>When, by the clock of the context.</summary>
    public DateTimeOffset At { get; internal init; }

    /// <summary>Whose entry it is, or which peer.</summary>
    public uint RegistryId { get; internal init; }

    /// <summary>What the entry is; <see cref="ServiceKind.None"/> for peers.</summary>
    public ServiceKind Kind { get; internal init; }

    /// <summary>The entry as it is, or was at last; null for peers.</summary>
    public ServiceInstance? Instance { get; internal init; }

    /// <summary>An explanation; may be empty.</summary>
    public string Text { get; internal init; } = "";

    /// <summary>Describes the event for a log. The format may change.</summary>
    /// <returns>One line of text.</returns>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Type} at {At:O}, registry {RegistryId}")
        + (Instance is null ? "" : $", {Kind} {Instance}") + (Text.Length == 0 ? "" : $": {Text}");
}

/// <summary>What only the sockets of a registry know.</summary>
internal readonly record struct RegistryConnections(int Subscribers, int Clients, int UndecidedClients);
