using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

internal sealed class PublisherLinkState(SubscriptionTrie<PeerLink> trie, PeerLink link, FairLimit? limit)
{
    public FairLimitShare ByteShare = new(limit);

    private Subscriber<PeerLink>? _requested;
    private SubscriptionTrie<PeerLink>? _requestedTrie;

    public Subscriber<PeerLink> Granted { get; private set; } = trie.NewSubscriber(link);

    public SubscriptionTrie<PeerLink> RequestedTrie => _requestedTrie ??= new SubscriptionTrie<PeerLink>();

    public Subscriber<PeerLink> Requested => _requested ??= RequestedTrie.NewSubscriber(link);

    public bool IsMatch { get; set; }

    public PendingRemoval Clear(NoticeRules notices)
    {
        var removal = new PendingRemoval(link, Granted, notices.Manual ? Requested : null, notices);
        Granted = trie.NewSubscriber(link);
        if (notices.Manual)
        {
            (_requested, _requestedTrie) = (null, null);
        }

        return removal;
    }
}
