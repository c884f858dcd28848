using System.Diagnostics;

namespace Net.Zlink.Sockets.Routing;

/// <summary>Handles one prefix of a subscriber.</summary>
/// <param name="prefix">Its bytes, valid during the call.</param>
/// <param name="last">No other peer has it.</param>
/// <param name="state">The caller's state.</param>
internal delegate void SubscribedPrefix<in TState>(ReadOnlySpan<byte> prefix, bool last, TState state)
    where TState : allows ref struct;

internal enum SubscriptionRemoval
{
    /// <summary>No peer has subscribed this prefix.</summary>
    UnknownPrefix,

    /// <summary>Other peers have subscribed this prefix.</summary>
    NotSubscribed,

    /// <summary>Removed; others still have the prefix.</summary>
    OthersRemain,

    /// <summary>Removed; the prefix is gone.</summary>
    LastOfPrefix,
}

/// <summary>
/// A publisher's subscriptions: a set of (prefix, peer), matched by topic. A peer's second subscription of a prefix changes nothing.
/// </summary>
/// <remarks>
/// A match walks the topic once and allocates nothing. Removing a peer costs its own prefixes only. There are no limits here: the owner
/// compares <see cref="StoredBytes"/>, <see cref="Subscriber{TPeer}.StoredBytes"/> and <see cref="ChargeOf"/> with its limits first. Not
/// thread-safe: under the socket's lock.
/// </remarks>
internal sealed class SubscriptionTrie<TPeer>
    where TPeer : class
{
    /// <summary>
    /// The cost of a subscription beside its bytes: two nodes of 88 bytes, their arrays, entries in two tables with spare capacity, and a
    /// share of a table of children. The worst measured shape, one peer per subscription, kept 457 bytes.
    /// </summary>
    private const int CostOfOne = 640;

    private readonly PrefixTree<SubscriberSet<TPeer>> _tree = new();
    private long _stamp;

    public int PrefixCount => _tree.Count;

    /// <summary>How many subscribers have the empty prefix, and so every topic.</summary>
    public int UnfilteredCount => _tree.Find([])?.Value.Count ?? 0;

    /// <summary>The sum of all subscribers' <see cref="Subscriber{TPeer}.StoredBytes"/>.</summary>
    public long StoredBytes { get; private set; }

    /// <summary>
    /// The bytes charged for one subscription, at least its memory. A shared prefix is charged to each of its subscribers.
    /// </summary>
    // Twice: for the nodes of a long prefix's chain, and labels that merging left short.
    public static long ChargeOf(int prefixLength) => CostOfOne + (2L * prefixLength);

    public Subscriber<TPeer> NewSubscriber(TPeer peer) => new(this, peer);

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
        Charge(subscriber, -ChargeOf(prefix.Length));
        return RemoveSlot(node, place) ? SubscriptionRemoval.LastOfPrefix : SubscriptionRemoval.OthersRemain;
    }

    /// <summary>All of a subscriber's prefixes are removed: see <see cref="PrefixRemoval{TPeer}"/>. It may subscribe again.</summary>
    public void Forget(Subscriber<TPeer> subscriber)
    {
        Debug.Assert(subscriber.Trie == this, "A subscriber of another trie.");
        subscriber.Slots.Clear();
        subscriber.TrimSlots();
        Charge(subscriber, -subscriber.StoredBytes);
    }

    /// <summary>
    /// Calls back for each prefix of a subscriber in ascending byte order, each before its extensions. The callback must not use this trie.
    /// </summary>
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

    /// <summary>Appends each subscriber with a prefix of this topic once.</summary>
    /// <param name="topic">A message's first part.</param>
    /// <param name="matches">The caller's reused list, so nothing is allocated.</param>
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
            matches.AddRange(first); // A single prefix, the usual case, has no duplicates.
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

    /// <summary>Removes a subscriber from a prefix's set. The caller updates its table of positions.</summary>
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
