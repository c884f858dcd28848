using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

internal sealed record PendingRemoval(PeerLink Link, Subscriber<PeerLink> Granted, Subscriber<PeerLink>? Requested,
    NoticeRules Notices)
{
    public int TopicCount { get; } = Granted.PrefixCount + (Requested?.PrefixCount ?? 0);
}
