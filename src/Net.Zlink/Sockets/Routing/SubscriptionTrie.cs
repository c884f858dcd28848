using System.Diagnostics;

namespace Net.Zlink.Sockets.Routing;

/// <summary>What is done with one prefix of a subscriber.</summary>
/// <param name="prefix">Its bytes, valid during the call.</param>
/// <param name="last">Whether nobody else has it.</param>
/// <param name="state">What the caller passed on.</param>
internal delegate void SubscribedPrefix<in TState>(ReadOnlySpan<byte> prefix, bool last, TState state)
    where TState : allows ref struct;

/// <summary>What became of a cancelled subscription.</summary>
internal enum SubscriptionRemoval
{
    /// <summary>Nobody has subscribed this prefix.</summary>
    UnknownPrefix,

    /// <summary>Others have subscribed this prefix, this peer has not.</summary>
    NotSubscribed,

    /// <summary>Taken out; others still have the prefix.</summary>
    OthersRemain,

    /// <summary>Taken out; the prefix is gone.</summary>
    LastOfPrefix,
}

/// <summary>A publisher's subscriptions: a set of (prefix, peer), and the peers that a topic is for. A peer's second subscription of a
/// prefix changes nothing.</summary>
/// <remarks>
/// Matching walks the topic once and allocates nothing. Removing a peer costs its own prefixes only. Nothing here limits what peers
/// subscribe: the owner compares <see cref="StoredBytes"/> and <see cref="Subscriber{TPeer}.StoredBytes"/>, plus <see cref="ChargeOf"/>,
/// with its limits before it adds.
/// Not thread-safe: the socket's lock is held around every call.
/// </remarks>
internal sealed class SubscriptionTrie<TPeer>
    where TPeer : class
{
    /// <summary>
    /// What a subscription costs beside its bytes: two nodes (88 bytes each), their arrays, the places in the prefix's set and in the
    /// peer's table with their spare room, and a share of a table of children. Of the shapes measured the worst, a peer for each
    /// subscription, kept 457 bytes.
    /// </summary>
    private const int CostOfOne = 640;

    private readonly PrefixTree<SubscriberSet<TPeer>> _tree = new();
    private long _stamp;

    /// <summary>Number of distinct prefixes that somebody holds.</summary>
    public int PrefixCount => _tree.Count;

    /// <summary>How many subscribers have the empty prefix, and so every topic.</summary>
    public int UnfilteredCount => _tree.Find([])?.Value.Count ?? 0;

    /// <summary>Sum of all subscribers' <see cref="Subscriber{TPeer}.StoredBytes"/>.</summary>
    public long StoredBytes { get; private set; }

    /// <summary>Bytes charged for one subscription: at least what it makes this table keep. Shared prefixes are charged to each who holds
    /// them.</summary>
    // Twice: the nodes of a long prefix's chain, and labels that merging left short.
    public static long ChargeOf(int prefixLength) => CostOfOne + (2L * prefixLength);

    public Subscriber<TPeer> NewSubscriber(TPeer peer) => new(this, peer);

    /// <summary>Adds a subscription.</summary>
    /// <returns>False if the subscriber has it already.</returns>
    public bool Add(ReadOnlySpan<byte> prefix, Subscriber<TPeer> subscriber, out bool firstOfPrefix)
    {
        Debug.Assert(subscriber.Trie == this, "A subscriber of another trie.");
        PrefixNode<SubscriberSet<TPeer>> node = _tree.FindOrAdd(prefix, out firstOfPrefix);
        if (!subscriber.Slots.TryAdd(node, node.Value.Count))
        {
            return false;
        }

        node.Value.Add(subscriber);
        Charge(subscriber, ChargeOf(prefix.Length));
        return true;
    }

    /// <summary>Whether a subscriber has a prefix.</summary>
    public bool Contains(ReadOnlySpan<byte> prefix, Subscriber<TPeer> subscriber) => _tree.Find(prefix) is { } node
        && subscriber.Slots.ContainsKey(node);

    /// <summary>Takes a subscription out.</summary>
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
        Charge(subscriber, -ChargeOf(prefix.Length));
        return RemoveSlot(node, place) ? SubscriptionRemoval.LastOfPrefix : SubscriptionRemoval.OthersRemain;
    }

    /// <summary>All of a subscriber's prefixes are out: see <see cref="PrefixRemoval{TPeer}"/>. It may subscribe again.</summary>
    public void Forget(Subscriber<TPeer> subscriber)
    {
        Debug.Assert(subscriber.Trie == this, "A subscriber of another trie.");
        subscriber.Slots.Clear();
        subscriber.TrimSlots();
        Charge(subscriber, -subscriber.StoredBytes);
    }

    /// <summary>Calls back for each prefix of a subscriber, in ascending unsigned byte order, a prefix before its extensions. The callback
    /// must not use this trie.</summary>
    public void ForEachPrefix<TState>(Subscriber<TPeer> subscriber, TState state, SubscribedPrefix<TState> found)
        where TState : allows ref struct
    {
        long mark = _tree.NewMark();
        foreach (PrefixNode<SubscriberSet<TPeer>> node in subscriber.Slots.Keys)
        {
            PrefixTree<SubscriberSet<TPeer>>.Mark(node, mark);
        }

        using OrderedPrefixes<SubscriberSet<TPeer>> prefixes = _tree.InOrder(mark);
        while (prefixes.MoveNext())
        {
            found(prefixes.Current, prefixes.Node.Value.Count == 1, state);
        }
    }

    /// <summary>Appends each subscriber that has a prefix of this topic, once.</summary>
    /// <param name="topic">A message's first part.</param>
    /// <param name="matches">The caller's list, reused, so that nothing is allocated.</param>
    public void Match(ReadOnlySpan<byte> topic, List<Subscriber<TPeer>> matches)
    {
        PrefixMatches<SubscriberSet<TPeer>> found = _tree.Match(topic);
        if (!found.MoveNext())
        {
            return;
        }

        ReadOnlySpan<Subscriber<TPeer>> first = found.Current.Value.Items;
        if (!found.MoveNext())
        {
            matches.AddRange(first); // One prefix alone, the usual case: nobody can be there twice.
            return;
        }

        long stamp = ++_stamp;
        AddUnstamped(first, stamp, matches);
        do
        {
            AddUnstamped(found.Current.Value.Items, stamp, matches);
        }
        while (found.MoveNext());
    }

    private static void AddUnstamped(ReadOnlySpan<Subscriber<TPeer>> subscribers, long stamp, List<Subscriber<TPeer>> matches)
    {
        foreach (Subscriber<TPeer> subscriber in subscribers)
        {
            if (subscriber.MatchStamp != stamp)
            {
                subscriber.MatchStamp = stamp;
                matches.Add(subscriber);
            }
        }
    }

    /// <summary>Takes a subscriber out of a prefix's set; its own table of places is the caller's.</summary>
    /// <returns>Whether the prefix is gone.</returns>
    internal bool RemoveSlot(PrefixNode<SubscriberSet<TPeer>> node, int place)
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

    private void Charge(Subscriber<TPeer> subscriber, long bytes)
    {
        subscriber.StoredBytes += bytes;
        StoredBytes += bytes;
    }
}
