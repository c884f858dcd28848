namespace Net.Zlink.Sockets.Routing;

/// <summary>
/// Removes a subscriber's prefixes from its trie in small steps, so that a matching message waits for one step only. Until the end no other
/// change of the trie is allowed.
/// </summary>
internal sealed class PrefixRemoval<TPeer>(Subscriber<TPeer> subscriber, int most = PrefixRemoval<TPeer>.MaxPerStep)
    where TPeer : class
{
    // What a step changes is mostly not cached: 0.15 to 0.25 us each. A thread that waits for the lock spins for 2 us before it sleeps,
    // which would cost it 50.
    private const int MaxPerStep = 8;

    private Dictionary<PrefixNode<SubscriberSet<TPeer>>, int>.Enumerator _left = subscriber.Slots.GetEnumerator();

    /// <summary>False: none was left.</summary>
    public bool RemoveSome()
    {
        int removed = 0;
        while (removed < most && _left.MoveNext())
        {
            (PrefixNode<SubscriberSet<TPeer>> node, int place) = _left.Current;
            subscriber.Trie.RemoveSlot(node, place);
            removed++;
        }

        return removed > 0;
    }
}
