namespace Net.Zlink;

/// <summary>Which subscriptions an <see cref="XPubSocket"/> receives as notices.</summary>
public enum SubscriptionNotices
{
    /// <summary>A topic's first subscription and its last unsubscription.</summary>
    FirstAndLast = 0,

    /// <summary>Every subscription, and a topic's last unsubscription.</summary>
    AllSubscriptions = 1,

    /// <summary>Every subscription and every unsubscription.</summary>
    All = 2,
}
