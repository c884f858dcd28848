using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Services;

/// <summary>A REGISTER that <see cref="RegistryOptions.Admission"/> decides.</summary>
public sealed record RegistrationRequest
{
    /// <summary>What registers.</summary>
    public required ServiceKind Kind { get; init; }

    /// <summary>The name of the service.</summary>
    public required string Service { get; init; }

    /// <summary>The endpoint that is to be listed.</summary>
    public required string Endpoint { get; init; }

    /// <summary>The weight that is to be listed, 1 or more.</summary>
    public required uint Weight { get; init; }

    /// <summary>The routing id of the connection, which is listed with the endpoint.</summary>
    public required RoutingId RoutingId { get; init; }

    /// <summary>Where the connection comes from.</summary>
    public required string RemoteAddress { get; init; }

    /// <summary>The certificate of the other side, with mutual TLS; valid during the call.</summary>
    public X509Certificate2? RemoteCertificate { get; init; }

    /// <summary>The HTTP request of the connection, over ws and wss.</summary>
    public WebSocketRequest? WebSocketRequest { get; init; }
}
