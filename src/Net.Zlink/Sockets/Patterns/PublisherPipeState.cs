using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>A pipe's place in a publisher: what it asked for, and what counts.</summary>
internal sealed class PublisherPipeState(DistributionSlot slot, SubscriptionTrie<PeerLink> trie, PeerLink link, FairLimit? limit)
{
    /// <summary>What it asked for counts here.</summary>
    public FairLimitShare ByteShare = new(limit);

    private Subscriber<PeerLink>? _requested;
    private SubscriptionTrie<PeerLink>? _requestedTrie;

    public DistributionSlot Slot => slot;

    public Subscriber<PeerLink> Granted { get; private set; } = trie.NewSubscriber(link);

    /// <summary>In manual mode: what the peer asked for, in a table of its own.</summary>
    public SubscriptionTrie<PeerLink> RequestedTrie => _requestedTrie ??= new SubscriptionTrie<PeerLink>();

    public Subscriber<PeerLink> Requested => _requested ??= RequestedTrie.NewSubscriber(link);

    public bool IsMatch { get; set; }

    /// <summary>What it has leaves with the result; what it asks for from here on counts anew.</summary>
    public PendingRemoval Clear(SubscriptionNotices notices)
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
