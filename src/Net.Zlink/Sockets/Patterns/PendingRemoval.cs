using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>What a subscriber leaves behind that has gone, or goes for having too many topics.</summary>
/// <param name="Link">Who.</param>
/// <param name="Granted">What counted.</param>
/// <param name="Requested">In manual mode: what it had asked for.</param>
/// <param name="Notices">What the application was to be told when it went.</param>
internal sealed record PendingRemoval(PeerLink Link, Subscriber<PeerLink> Granted, Subscriber<PeerLink>? Requested,
    SubscriptionNotices Notices)
{
    /// <summary>How many topics it has left. It subscribes to no more: this stays the same until they are taken out.</summary>
    public int TopicCount { get; } = Granted.PrefixCount + (Requested?.PrefixCount ?? 0);
}
