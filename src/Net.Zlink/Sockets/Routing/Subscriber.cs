namespace Net.Zlink.Sockets.Routing;

/// <summary>A peer's place in one <see cref="SubscriptionTrie{TPeer}"/>, made by <see cref="SubscriptionTrie{TPeer}.NewSubscriber"/>; the
/// owner keeps it with the peer.</summary>
internal sealed class Subscriber<TPeer>
    where TPeer : class
{
    /// <summary>Below, a table is under 1 KB and nothing is won.</summary>
    private const int SmallestTrimmed = 32;

    internal Subscriber(SubscriptionTrie<TPeer> trie, TPeer peer)
    {
        Trie = trie;
        Peer = peer;
    }

    public TPeer Peer { get; }

    /// <summary>Number of different prefixes.</summary>
    public int PrefixCount => Slots.Count;

    /// <summary>Bytes that this peer's subscriptions are charged with: see <see cref="SubscriptionTrie{TPeer}.ChargeOf"/>. For a limit per
    /// peer.</summary>
    public long StoredBytes { get; internal set; }

    /// <summary>Its owner has no use for it any more: who matches it passes it by until it is out of the table.</summary>
    public bool HasLeft { get; set; }

    internal SubscriptionTrie<TPeer> Trie { get; }

    /// <summary>Where this subscriber stands in the set of each of its prefixes: taking it out of a set of thousands is one step.</summary>
    internal Dictionary<PrefixNode<SubscriberSet<TPeer>>, int> Slots { get; } = [];

    /// <summary>The last match that reported this subscriber: a second prefix of the same topic does not report it again.</summary>
    internal long MatchStamp { get; set; }

    /// <summary>A table of places that was once large does not stay so: what is not charged is not kept.</summary>
    internal void TrimSlots()
    {
        if (Slots.Capacity > SmallestTrimmed && Slots.Count < Slots.Capacity / 4)
        {
            Slots.TrimExcess(Slots.Count * 2);
        }
    }
}

/// <summary>The subscribers of one prefix, in no particular order after a removal.</summary>
internal struct SubscriberSet<TPeer>
    where TPeer : class
{
    private Subscriber<TPeer>[]? _items;

    public int Count { get; private set; }

    public readonly ReadOnlySpan<Subscriber<TPeer>> Items => _items.AsSpan(0, Count);

    /// <summary>A hint: see <see cref="Buffers.CacheLines"/>.</summary>
    public readonly void Fetch() => Buffers.CacheLines.Fetch(_items);

    /// <returns>Where it stands now.</returns>
    public int Add(Subscriber<TPeer> subscriber)
    {
        if (_items is null)
        {
            _items = new Subscriber<TPeer>[1]; // Most prefixes of a large table have one subscriber.
        }
        else if (Count == _items.Length)
        {
            Array.Resize(ref _items, Count * 2);
        }

        _items[Count] = subscriber;
        return Count++;
    }

    /// <returns>The subscriber that stands there now, or null if it was the last one's place.</returns>
    public Subscriber<TPeer>? RemoveAt(int index)
    {
        Subscriber<TPeer> last = _items![--Count];
        _items[index] = last;
        _items[Count] = null!;
        if (_items.Length >= 8 && Count <= _items.Length / 4)
        {
            Array.Resize(ref _items, _items.Length / 2);
        }

        return index == Count ? null : last;
    }
}
