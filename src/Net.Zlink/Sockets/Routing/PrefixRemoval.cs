using Net.Zlink.Buffers;

namespace Net.Zlink.Sockets.Routing;

/// <summary>
/// Removes a subscriber's prefixes from its trie in small steps, so that a matching message waits for one step only. Until the end no other
/// change of the trie is allowed.
/// </summary>
internal sealed class PrefixRemoval<TPeer>(Subscriber<TPeer> subscriber, int most = PrefixRemoval<TPeer>.MaxPerStep)
    where TPeer : class
{
    // What a step changes is mostly not cached: 0.15 to 0.25 us each, half of that with prefetching. So a step takes 1 us, seldom 5. A
    // thread that waits for the lock spins for 2 us before it sleeps, which would cost it 50.
    private const int MaxPerStep = 16;

    private readonly (PrefixNode<SubscriberSet<TPeer>> Node, int Place)[] _next =
        new (PrefixNode<SubscriberSet<TPeer>>, int)[Math.Min(most, subscriber.PrefixCount)];
    private Dictionary<PrefixNode<SubscriberSet<TPeer>>, int>.Enumerator _remainingSlots = subscriber.Slots.GetEnumerator();
    private int _count;

    public bool Find()
    {
        _count = 0;
        while (_count < _next.Length && _remainingSlots.MoveNext())
        {
            (PrefixNode<SubscriberSet<TPeer>> node, int place) = _remainingSlots.Current;
            CacheLines.Fetch(node);
            _next[_count++] = (node, place);
        }

        Span<(PrefixNode<SubscriberSet<TPeer>> Node, int Place)> next = _next.AsSpan(0, _count);
        foreach ((PrefixNode<SubscriberSet<TPeer>> node, _) in next)
        {
            node.Value.Fetch();
            node.Children.Fetch();
            CacheLines.Fetch(node.Parent);
        }

        foreach ((PrefixNode<SubscriberSet<TPeer>> node, _) in next)
        {
            node.Parent?.Children.Fetch();
        }

        return _count > 0;
    }

    public void Remove()
    {
        foreach ((PrefixNode<SubscriberSet<TPeer>> node, int place) in _next.AsSpan(0, _count))
        {
            subscriber.Trie.RemoveSlot(node, place);
        }
    }
}
