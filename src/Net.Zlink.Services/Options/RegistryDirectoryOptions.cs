using System.Net;

namespace Net.Zlink.Services;

/// <summary>How a discovery treats registries that are lost or come again. Copied when the discovery is made.</summary>
public sealed class RegistryDirectoryOptions
{
    // What the core's own links have (docs/services.md): a registry whose machine is gone is noticed after this.
    private static readonly TimeSpan HeartbeatTimeout = TimeSpan.FromSeconds(15);

    /// <summary>What a registry listed stays for this long after its connection ended. The time begins only when another registry has been
    /// connected for <see cref="RestartTimeout"/>: receivers had time to register there. Meanwhile gateways judge receivers by their own
    /// connections. Default 30 s.</summary>
    public TimeSpan StaleViewTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>What a registry listed before it was restarted stays for this long, counted while a registry is connected without a break:
    /// its receivers register again meanwhile. Default 15 s.</summary>
    public TimeSpan RestartTimeout { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>The options of the socket that is connected to the registries: TLS, limits. Unlike a SUB's defaults: a heartbeat every 5 s
    /// with 15 s for the answer, pauses from 200 ms up to 5 s between attempts, and as many parts as the largest list has.</summary>
    public SubOptions Socket { get; private set; } = new()
    {
        HeartbeatInterval = HeartbeatTimeout / 3,
        HeartbeatTimeout = HeartbeatTimeout,
        HeartbeatTtl = HeartbeatTimeout,
        ReconnectInterval = TimeSpan.FromMilliseconds(200),
        ReconnectIntervalMax = TimeSpan.FromSeconds(5),
        MaxMessageParts = ListLimits.MaxParts,
    };

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A time is negative; the message names the property.</exception>
    public void Validate()
    {
        OptionRange.Time(StaleViewTimeout, mayBeInfinite: false);
        OptionRange.Time(RestartTimeout, mayBeInfinite: false);
    }

    internal RegistryDirectoryOptions ValidCopy()
    {
        Validate();
        var copy = (RegistryDirectoryOptions)MemberwiseClone();
        copy.Socket = Socket.Copy();
        return copy;
    }
}

/// <summary>How a <see cref="DnsDirectory"/> asks, and what it makes of the addresses. Copied when the directory is made.</summary>
public sealed class DnsDirectoryOptions
{
    private static readonly string[] Transports = ["tcp", "tls", "ws", "wss"];

    /// <summary>How long after an answer, or a failure, the next query begins. Greater than zero. Default 5 s.</summary>
    public TimeSpan RefreshInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long one query may take until it counts as failed. Greater than zero. Default 5 s.</summary>
    public TimeSpan QueryTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>The transport of the endpoints: <c>tcp</c> (default), <c>tls</c>, <c>ws</c> or <c>wss</c>.</summary>
    public string Transport { get; set; } = "tcp";

    /// <summary>Which addresses are taken. Null (default): all, of both families. A name often has an IPv6 address that no receiver listens
    /// at.</summary>
    public Func<IPAddress, bool>? Filter { get; set; }

    /// <summary>Asks for the addresses of a name. Null (default):
    /// <see cref="Dns.GetHostAddressesAsync(string, CancellationToken)"/>. An exception is a query that failed.</summary>
    public Func<string, CancellationToken, Task<IPAddress[]>>? Resolve { get; set; }

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentException">A time is zero or negative, or the transport is none; the message names the
    /// property.</exception>
    public void Validate()
    {
        OptionRange.TimeAboveZero(RefreshInterval);
        OptionRange.TimeAboveZero(QueryTimeout);
        OptionTexts.OneOf(Transport, Transports);
    }

    internal DnsDirectoryOptions ValidCopy()
    {
        Validate();
        return (DnsDirectoryOptions)MemberwiseClone();
    }
}
