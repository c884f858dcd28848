using Net.Zlink.Engine;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>A pipe's place in a publisher: what it asked for, and what counts.</summary>
internal sealed class PublisherPlace(DistributionSlot slot, SubscriptionTrie<Pipe> trie, Pipe pipe, FairLimit? limit)
{
    /// <summary>What it asked for counts here.</summary>
    public FairLimitShare Share = new(limit);

    private Subscriber<Pipe>? _asked;
    private SubscriptionTrie<Pipe>? _askedTrie;

    public DistributionSlot Slot => slot;

    public Subscriber<Pipe> Granted { get; private set; } = trie.NewSubscriber(pipe);

    /// <summary>In manual mode: what the peer asked for, in a table of its own.</summary>
    public SubscriptionTrie<Pipe> AskedTrie => _askedTrie ??= new SubscriptionTrie<Pipe>();

    public Subscriber<Pipe> Asked => _asked ??= AskedTrie.NewSubscriber(pipe);

    public bool IsMatch { get; set; }

    /// <summary>What it has leaves with the result; what it asks for from here on counts anew.</summary>
    public Departure Clear(SubscriptionNotices notices)
    {
        var departure = new Departure(pipe, Granted, notices.Manual ? Asked : null, notices);
        Granted = trie.NewSubscriber(pipe);
        if (notices.Manual)
        {
            (_asked, _askedTrie) = (null, null);
        }

        return departure;
    }
}
