using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>The topics of a subscriber that was detached, or that has too many.</summary>
/// <param name="Link">The subscriber.</param>
/// <param name="Granted">Its effective topics.</param>
/// <param name="Requested">In manual mode: the topics that it asked for.</param>
/// <param name="Notices">The notices that the application wanted when it was detached.</param>
internal sealed record PendingRemoval(PeerLink Link, Subscriber<PeerLink> Granted, Subscriber<PeerLink>? Requested,
    SubscriptionNotices Notices)
{
    /// <summary>Its remaining topics. It subscribes no more, so this is constant until they are removed.</summary>
    public int TopicCount { get; } = Granted.PrefixCount + (Requested?.PrefixCount ?? 0);
}
