using System.Net;

namespace Net.Zlink.Services;

/// <summary>How a discovery treats registries that are lost or come again.</summary>
public sealed record DiscoveryOptions
{
    /// <summary>What a registry listed stays for this long after its connection ended. The time begins only when another registry has been
    /// connected for <see cref="RestartTimeout"/>: receivers had time to register there. Meanwhile gateways judge receivers by their own
    /// connections. Default 30 s.</summary>
    public TimeSpan StaleViewTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>What a registry listed before it was restarted stays for this long, counted while a registry is connected without a break:
    /// its receivers register again meanwhile. Default 15 s.</summary>
    public TimeSpan RestartTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Changes the options of the socket that is connected to the registries, before it is made: TLS, heartbeats,
    /// reconnecting.</summary>
    public Action<SubOptions>? ConfigureSocket { get; init; }
}

/// <summary>How a <see cref="DnsDirectory"/> asks, and what it makes of the addresses.</summary>
public sealed record DnsDirectoryOptions
{
    /// <summary>How long after an answer, or a failure, the next query begins. Greater than zero. 5 s.</summary>
    public TimeSpan RefreshInterval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>How long one query may take until it counts as failed. Greater than zero. 5 s.</summary>
    public TimeSpan QueryTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>The transport of the endpoints: <c>tcp</c>, <c>tls</c>, <c>ws</c> or <c>wss</c>. <c>tcp</c>.</summary>
    public string Transport { get; init; } = "tcp";

    /// <summary>Which addresses are taken; null: all, of both families. A name often has an IPv6 address that no receiver listens
    /// at.</summary>
    public Func<IPAddress, bool>? Filter { get; init; }

    /// <summary>Asks for the addresses of a name. Null: <see cref="Dns.GetHostAddressesAsync(string, CancellationToken)"/>. An exception is
    /// a query that failed.</summary>
    public Func<string, CancellationToken, Task<IPAddress[]>>? Resolve { get; init; }
}
