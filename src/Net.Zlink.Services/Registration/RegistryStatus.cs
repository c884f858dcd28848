namespace Net.Zlink.Services;

/// <summary>How far a registration is, at one registry or as a whole.</summary>
public enum RegistrationState
{
    /// <summary>A registry is connected and has not answered yet, or no connection was tried yet.</summary>
    Pending,

    /// <summary>The registry lists the service. Of a whole registration: at least one registry does.</summary>
    Registered,

    /// <summary>The registry refused it. It is asked again on the next connection. Of a whole registration: each connected registry refused
    /// it.</summary>
    Refused,

    /// <summary>There is no connection to the registry. Of a whole registration: to none of them.</summary>
    Unreachable,

    /// <summary>The registration was disposed, or its receiver was.</summary>
    Ended,
}

/// <summary>What one registry says about one registration: a snapshot.</summary>
public sealed record RegistryStatus
{
    /// <summary>The registry's router endpoint, as it was given to <c>ConnectRegistry</c>.</summary>
    public required string RegistryEndpoint { get; init; }

    /// <summary>How far the registration is at this registry.</summary>
    public required RegistrationState State { get; init; }

    /// <summary>The status byte of the last answer: 0 accepted, 1 unknown entry, 2 refused, 255 malformed. Null before the first
    /// answer.</summary>
    public required byte? StatusCode { get; init; }

    /// <summary>The text of the last answer, or why there is no connection; empty where there is nothing to say.</summary>
    public required string Detail { get; init; }

    /// <summary>When the registry last accepted the registration or a weight of it; null before.</summary>
    public required DateTimeOffset? AcceptedAt { get; init; }

    /// <summary>When the last registration or heartbeat was sent; null before.</summary>
    public required DateTimeOffset? LastHeartbeatAt { get; init; }

    /// <summary>The weight that the registry last accepted; null before.</summary>
    public required uint? Weight { get; init; }
}
