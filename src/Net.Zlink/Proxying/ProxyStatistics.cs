namespace Net.Zlink;

/// <summary>What went through one side of a <see cref="Proxy"/> in one direction.</summary>
/// <param name="Messages">Whole messages.</param>
/// <param name="Parts">Their parts, a ROUTER's routing id counted as one, as natively.</param>
/// <param name="Bytes">The payload bytes of these parts.</param>
public readonly record struct ProxyTraffic(long Messages, long Parts, long Bytes);

/// <summary>What a <see cref="Proxy"/> has done since it was made: a snapshot, each number as of the moment it was read.</summary>
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
    /// Messages received and not sent on: to a peer that a mandatory ROUTER does not know, of several parts to a socket with Conflate, or
    /// held when a socket was closed. Also copies, and answers to
    /// STATISTICS, that the capture or the control socket could not take because it has Conflate.
    /// </summary>
    public required long Undeliverable { get; init; }
}
