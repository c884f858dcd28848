namespace Net.Zlink.Sockets.Routing;

/// <summary>Which notices about subscriptions the application of an XPUB gets, by its options (docs/protocol.md). Pure functions.</summary>
/// <param name="Subscribes">VERBOSE or VERBOSER: every subscribe, not only a prefix's first.</param>
/// <param name="Cancels">VERBOSER: every unsubscribe, not only a prefix's last.</param>
/// <param name="Manual">MANUAL: all, and only the application's answers take effect.</param>
internal readonly record struct SubscriptionNotices(bool Subscribes, bool Cancels, bool Manual)
{
    /// <summary>Whether a subscribe is notified.</summary>
    /// <param name="firstOfPrefix">No peer had the prefix before.</param>
    public bool NotifiesSubscribe(bool firstOfPrefix) => firstOfPrefix || Subscribes || Manual;

    /// <summary>Whether an unsubscribe is notified.</summary>
    /// <param name="removal">Its outcome. An unsubscribe of an unknown prefix is notified too.</param>
    public bool NotifiesCancel(SubscriptionRemoval removal) =>
        removal is SubscriptionRemoval.LastOfPrefix or SubscriptionRemoval.UnknownPrefix || Cancels || Manual;

    /// <summary>
    /// Whether the loss of a peer is notified as an unsubscribe of one of its prefixes; in manual mode, of a requested prefix.
    /// </summary>
    /// <param name="lastOfPrefix">No other peer has the prefix.</param>
    public bool NotifiesLoss(bool lastOfPrefix) => lastOfPrefix || Cancels || Manual;
}
