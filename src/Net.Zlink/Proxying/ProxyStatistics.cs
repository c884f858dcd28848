namespace Net.Zlink;

/// <summary>The traffic of one side of a <see cref="Proxy"/> in one direction.</summary>
/// <param name="Messages">Whole messages.</param>
/// <param name="Parts">Their parts, with a ROUTER's routing id as one, as in the native core.</param>
/// <param name="Bytes">The payload bytes of these parts.</param>
public readonly record struct ProxyTraffic(long Messages, long Parts, long Bytes);

/// <summary>The statistics of a <see cref="Proxy"/> since it was created: a snapshot.</summary>
public sealed record ProxyStatistics
{
    /// <summary>Received from the front socket.</summary>
    public required ProxyTraffic FrontReceived { get; init; }

    /// <summary>Sent to the front socket.</summary>
    public required ProxyTraffic FrontSent { get; init; }

    /// <summary>Received from the back socket.</summary>
    public required ProxyTraffic BackReceived { get; init; }

    /// <summary>Sent to the back socket.</summary>
    public required ProxyTraffic BackSent { get; init; }

    /// <summary>
    /// Messages received and not sent: to a peer that a mandatory ROUTER does not know, of several parts to a socket with Conflate, or
    /// pending when a socket was closed. Also copies that a capture socket with Conflate could not accept.
    /// </summary>
    public required long Undeliverable { get; init; }
}
