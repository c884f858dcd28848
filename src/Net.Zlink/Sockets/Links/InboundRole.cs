namespace Net.Zlink.Sockets.Links;

/// <summary>What a socket does with the messages of its peers.</summary>
internal enum InboundRole
{
    All,

    Filtered,

    Subscriptions,

    SubscriptionsAndData,
}

internal enum SubscriptionOutcome
{
    Silent,

    Notify,

    TooMany,

    /// <summary>All peers together exceed the limit, and this one exceeds its share.</summary>
    TooManyOfAll,
}
