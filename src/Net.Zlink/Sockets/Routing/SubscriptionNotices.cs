namespace Net.Zlink.Sockets.Routing;

/// <summary>What the application behind an XPUB socket is told about subscriptions, by its options (docs/protocol.md). Pure: an owner keeps
/// one and asks it.</summary>
/// <param name="Subscribes">VERBOSE or VERBOSER: every subscribe is told, not only a prefix's first.</param>
/// <param name="Cancels">VERBOSER: every cancel is told, not only a prefix's last.</param>
/// <param name="Manual">MANUAL: everything is told, and only what the application answers counts.</param>
internal readonly record struct SubscriptionNotices(bool Subscribes, bool Cancels, bool Manual)
{
    /// <summary>Whether a peer's subscribe is told.</summary>
    /// <param name="firstOfPrefix">Whether nobody had the prefix before, this peer included.</param>
    public bool NotifiesSubscribe(bool firstOfPrefix) => firstOfPrefix || Subscribes || Manual;

    /// <summary>Whether a peer's cancel is told.</summary>
    /// <param name="removal">What became of it: a cancel of a prefix that nobody has is told too.</param>
    public bool NotifiesCancel(SubscriptionRemoval removal) =>
        removal is SubscriptionRemoval.LastOfPrefix or SubscriptionRemoval.UnknownPrefix || Cancels || Manual;

    /// <summary>Whether the loss of a peer is told as a cancel of one of its prefixes; in manual mode, of a prefix that it had asked for,
    /// whatever was granted.</summary>
    /// <param name="lastOfPrefix">Whether nobody else has the prefix.</param>
    public bool NotifiesLoss(bool lastOfPrefix) => lastOfPrefix || Cancels || Manual;
}
