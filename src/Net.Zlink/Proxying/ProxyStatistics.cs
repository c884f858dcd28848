namespace Net.Zlink;

/// <summary>The traffic of one side of a <see cref="SocketProxy"/> in one direction.</summary>
public readonly struct ProxyTraffic
{
    /// <summary>Whole messages.</summary>
    public long Messages { get; internal init; }

    /// <summary>Their parts, with a ROUTER's routing id as one, as in the native core.</summary>
    public long Parts { get; internal init; }

    /// <summary>The payload bytes of these parts.</summary>
    public long Bytes { get; internal init; }
}

/// <summary>The statistics of a <see cref="SocketProxy"/> since it was created: a snapshot.</summary>
public sealed class ProxyStatistics
{
    internal ProxyStatistics()
    {
    }

    /// <summary>Received from the front socket.</summary>
    public ProxyTraffic FrontReceived { get; internal init; }

    /// <summary>Sent to the front socket.</summary>
    public ProxyTraffic FrontSent { get; internal init; }

    /// <summary>Received from the back socket.</summary>
    public ProxyTraffic BackReceived { get; internal init; }

    /// <summary>Sent to the back socket.</summary>
    public ProxyTraffic BackSent { get; internal init; }

    /// <summary>
    /// Messages received and not sent: to a peer that a mandatory ROUTER does not know, of several parts to a socket with Conflate, or
    /// pending when a socket was closed. Also copies that a capture socket with Conflate could not accept.
    /// </summary>
    public long Undeliverable { get; internal init; }
}
