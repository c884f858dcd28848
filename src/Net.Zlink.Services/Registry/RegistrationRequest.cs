namespace Net.Zlink.Services;

/// <summary>What a sender asks of a registry.</summary>
public enum RegistrationRequestType
{
    /// <summary>To list an endpoint.</summary>
    Register = 1,

    /// <summary>To change the weight of an entry.</summary>
    UpdateWeight,

    /// <summary>To remove an entry.</summary>
    Unregister,

    /// <summary>To renew the lease of an entry.</summary>
    Heartbeat,
}

/// <summary>A request that <see cref="ServiceRegistryOptions.Admission"/> decides.</summary>
public sealed class RegistrationRequest
{
    /// <summary>What is asked.</summary>
    public required RegistrationRequestType Type { get; init; }

    /// <summary>
    /// Whether the entry is the sender's, or is free. False: another sender holds it. A REGISTER makes the sender a second owner
    /// then; what else it asks is refused without <see cref="RegistrationAdmission.AcceptFromAnyone"/>.
    /// </summary>
    public required bool IsOwner { get; init; }

    /// <summary>What the entry is.</summary>
    public required ServiceKind Kind { get; init; }

    /// <summary>The name of the service.</summary>
    public required string Service { get; init; }

    /// <summary>The endpoint that is to be listed, or is.</summary>
    public required string Endpoint { get; init; }

    /// <summary>The weight that is to be listed, 1 or more; 1 where the request has none.</summary>
    public required uint Weight { get; init; }

    /// <summary>The routing id of the connection, which is listed with the endpoint.</summary>
    public required RoutingId RoutingId { get; init; }

    /// <summary>Where the connection comes from.</summary>
    public required string RemoteAddress { get; init; }

    /// <summary>The subject of the sender's certificate, with mutual TLS.</summary>
    public string? CertificateSubject { get; init; }

    /// <summary>The HTTP request of the connection, over ws and wss.</summary>
    public WebSocketRequest? WebSocketRequest { get; init; }
}
