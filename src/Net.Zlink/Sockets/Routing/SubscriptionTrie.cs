using System.Diagnostics;

namespace Net.Zlink.Sockets.Routing;

internal enum SubscriptionRemoval
{
    UnknownPrefix,

    NotSubscribed,

    OthersRemain,

    LastOfPrefix,
}

/// <summary>
/// The owner compares <see cref="Subscriber{TPeer}.StoredBytes"/> and <see cref="ChargeOf"/> with its limits first.
/// </summary>
internal sealed class SubscriptionTrie<TPeer>
    where TPeer : class
{
    /// <summary>The worst measured shape, one peer per subscription, kept 457 bytes.</summary>
    private const int CostOfOne = 640;

    private readonly PrefixTree<SubscriberSet<TPeer>> _tree = new();
    private long _stamp;

    public int PrefixCount => _tree.Count;

    public int UnfilteredCount => _tree.Find([])?.Value.Count ?? 0;

    /// <summary>A shared prefix is charged to each of its subscribers.</summary>
    // Twice: for the nodes of a long prefix's chain, and labels that merging left short.
    public static long ChargeOf(int prefixLength) => CostOfOne + (2L * prefixLength);

    public Subscriber<TPeer> NewSubscriber(TPeer peer) => new(this, peer);

    public bool Add(ReadOnlySpan<byte> prefix, Subscriber<TPeer> subscriber, out bool firstOfPrefix)
    {
        Debug.Assert(subscriber.Trie == this, "A subscriber of another trie.");
        PrefixNode<SubscriberSet<TPeer>> node = _tree.FindOrAdd(prefix, out firstOfPrefix);
        if (!subscriber.Slots.TryAdd(node, node.Value.Count))
        {
            return false;
        }

        node.Value.Add(subscriber);
        subscriber.StoredBytes += ChargeOf(prefix.Length);
        return true;
    }

    public bool Contains(ReadOnlySpan<byte> prefix, Subscriber<TPeer> subscriber) => _tree.Find(prefix) is { } node
        && subscriber.Slots.ContainsKey(node);

    public SubscriptionRemoval Remove(ReadOnlySpan<byte> prefix, Subscriber<TPeer> subscriber)
    {
        Debug.Assert(subscriber.Trie == this, "A subscriber of another trie.");
        if (_tree.Find(prefix) is not { } node)
        {
            return SubscriptionRemoval.UnknownPrefix;
        }

        if (!subscriber.Slots.Remove(node, out int place))
        {
            return SubscriptionRemoval.NotSubscribed;
        }

        subscriber.TrimSlots();
        subscriber.StoredBytes -= ChargeOf(prefix.Length);
        return RemoveSlot(node, place) ? SubscriptionRemoval.LastOfPrefix : SubscriptionRemoval.OthersRemain;
    }

    public void Forget(Subscriber<TPeer> subscriber)
    {
        Debug.Assert(subscriber.Trie == this, "A subscriber of another trie.");
        subscriber.Slots.Clear();
        subscriber.TrimSlots();
        subscriber.StoredBytes = 0;
    }

    /// <summary>
    /// Removes a few of a subscriber's prefixes, so that a matching message waits for these only. Until the end no other change of the trie
    /// is allowed. False: none was left.
    /// </summary>
    /// <param name="left">Of its slots.</param>
    /// <param name="most">
    /// What is removed is mostly not cached: 0.15 to 0.25 us each. A thread that waits for the lock spins for 2 us before it sleeps, which
    /// would cost it 50.
    /// </param>
    public bool RemoveSome(ref Dictionary<PrefixNode<SubscriberSet<TPeer>>, int>.Enumerator left, int most = 8)
    {
        int removed = 0;
        while (removed < most && left.MoveNext())
        {
            RemoveSlot(left.Current.Key, left.Current.Value);
            removed++;
        }

        return removed > 0;
    }

    /// <summary>Adds each peer once, however many of its prefixes match.</summary>
    public void Match(ReadOnlySpan<byte> topic, List<TPeer> matches)
    {
        _stamp++;
        PrefixMatches<SubscriberSet<TPeer>> found = _tree.Match(topic);
        while (found.MoveNext())
        {
            foreach (Subscriber<TPeer> subscriber in found.Current.Value.Items)
            {
                if (subscriber.MatchStamp != _stamp && !subscriber.HasLeft)
                {
                    subscriber.MatchStamp = _stamp;
                    matches.Add(subscriber.Peer);
                }
            }
        }
    }

    public bool IsInLastMatch(Subscriber<TPeer> subscriber) => subscriber.MatchStamp == _stamp;

    /// <summary>The caller updates its table of positions.</summary>
    private bool RemoveSlot(PrefixNode<SubscriberSet<TPeer>> node, int place)
    {
        ref SubscriberSet<TPeer> set = ref node.Value;
        if (set.RemoveAt(place) is { } moved)
        {
            moved.Slots[node] = place;
        }

        if (set.Count > 0)
        {
            return false;
        }

        _tree.Remove(node);
        return true;
    }
}

internal readonly record struct NoticeRules(bool Subscribes, bool Cancels, bool Manual)
{
    public bool NotifiesSubscribe(bool firstOfPrefix) => firstOfPrefix || Subscribes || Manual;

    /// <param name="removal">An unsubscribe of an unknown prefix is notified too.</param>
    public bool NotifiesCancel(SubscriptionRemoval removal) =>
        removal is SubscriptionRemoval.LastOfPrefix or SubscriptionRemoval.UnknownPrefix || Cancels || Manual;

    public bool NotifiesLoss(bool lastOfPrefix) => lastOfPrefix || Cancels || Manual;
}
