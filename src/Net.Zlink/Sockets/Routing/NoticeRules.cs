namespace Net.Zlink.Sockets.Routing;

internal readonly record struct NoticeRules(bool Subscribes, bool Cancels, bool Manual)
{
    public bool NotifiesSubscribe(bool firstOfPrefix) => firstOfPrefix || Subscribes || Manual;

    /// <param name="removal">An unsubscribe of an unknown prefix is notified too.</param>
    public bool NotifiesCancel(SubscriptionRemoval removal) =>
        removal is SubscriptionRemoval.LastOfPrefix or SubscriptionRemoval.UnknownPrefix || Cancels || Manual;

    public bool NotifiesLoss(bool lastOfPrefix) => lastOfPrefix || Cancels || Manual;
}
