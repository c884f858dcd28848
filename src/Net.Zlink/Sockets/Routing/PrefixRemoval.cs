using Net.Zlink.Buffers;

namespace Net.Zlink.Sockets.Routing;

/// <summary>Takes all of a subscriber's prefixes out of its trie, some at a time: whoever wants to match a topic meanwhile waits for no
/// more than some.</summary>
/// <remarks>Until the end nothing else may change the trie. It may be matched, but not during <see cref="Remove"/>, and then finds the
/// subscriber at the prefixes that are left.</remarks>
internal sealed class PrefixRemoval<TPeer>(Subscriber<TPeer> subscriber, int most = PrefixRemoval<TPeer>.MaxPerStep)
    where TPeer : class
{
    // What one is taken out of has mostly left the cache: 0.15 to 0.25 us each, fetched beforehand half of that. So some 1 us, seldom 5: a
    // thread that finds the lock taken looks for 2 us before it goes to sleep, which would cost it 50.
    private const int MaxPerStep = 16;

    private readonly (PrefixNode<SubscriberSet<TPeer>> Node, int Place)[] _next =
        new (PrefixNode<SubscriberSet<TPeer>>, int)[Math.Min(most, subscriber.PrefixCount)];
    private Dictionary<PrefixNode<SubscriberSet<TPeer>>, int>.Enumerator _remainingSlots = subscriber.Slots.GetEnumerator();
    private int _count;

    /// <summary>Looks the next ones up, and has the processor fetch what they are taken out of. False: there are none.</summary>
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

    /// <summary>Takes out what was looked up.</summary>
    public void Remove()
    {
        foreach ((PrefixNode<SubscriberSet<TPeer>> node, int place) in _next.AsSpan(0, _count))
        {
            subscriber.Trie.RemoveSlot(node, place);
        }
    }
}
