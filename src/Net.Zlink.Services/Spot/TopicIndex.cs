using System.Collections.Concurrent;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>Which subscribers take a topic, and which filters the peers are asked for. Safe for any number of threads; finding a topic that
/// was seen before takes no lock.</summary>
/// <param name="subscribe">The first subscription of a text: asks the peers for it. Called one at a time.</param>
/// <param name="unsubscribe">The last subscription of a text is gone.</param>
internal sealed class TopicIndex(Action<byte[]> subscribe, Action<byte[]> unsubscribe)
{
    // About 3 MB of usual topics. A peer that sends others again and again makes the index begin anew.
    private const int MaxKnown = 10_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<byte[], Filter> _filters = new(TopicBytes.Comparer);
    private readonly int[] _prefixesOfLength = new int[TopicBytes.MaxLength + 1];
    private int[] _prefixLengths = []; // The lengths that a prefix has: a topic is looked up once for each.
    private ConcurrentDictionary<byte[], TopicEntry> _known = NewKnown();
    private int _knownCount;
    private SubscriberQueue[] _lastTakers = [];
    private int _version;

    public int Version => Volatile.Read(ref _version);

    /// <summary>Different texts, over all subscribers.</summary>
    public int FilterCount
    {
        get
        {
            lock (_gate)
            {
                return _filters.Count;
            }
        }
    }

    /// <summary>Adds a subscription. Publications that begin later find it.</summary>
    /// <returns>False: the subscriber holds it already, or has ended.</returns>
    public bool Add(SubscriberQueue subscriber, ReadOnlySpan<byte> text, bool isPrefix)
    {
        lock (_gate)
        {
            Dictionary<byte[], Filter>.AlternateLookup<ReadOnlySpan<byte>> filters = _filters.GetAlternateLookup<ReadOnlySpan<byte>>();
            if (!filters.TryGetValue(text, out Filter? filter))
            {
                filter = new Filter(text.ToArray());
            }

            if (subscriber.IsClosed || !filter.Takers(isPrefix).Add(subscriber))
            {
                return false;
            }

            subscriber.Filters.Add((filter.Text, isPrefix));
            CountPrefixes(filter, isPrefix, added: true);
            Volatile.Write(ref _version, _version + 1);
            if (filter.Count == 1)
            {
                _filters.Add(filter.Text, filter);
                subscribe(filter.Text);
            }

            return true;
        }
    }

    public bool Remove(SubscriberQueue subscriber, ReadOnlySpan<byte> text, bool isPrefix)
    {
        lock (_gate)
        {
            return RemoveOne(subscriber, text, isPrefix);
        }
    }

    public void RemoveAll(SubscriberQueue subscriber)
    {
        lock (_gate)
        {
            foreach ((byte[] text, bool isPrefix) in subscriber.Filters.ToArray())
            {
                RemoveOne(subscriber, text, isPrefix);
            }
        }
    }

    public TopicEntry Find(ReadOnlySpan<byte> topic)
    {
        ConcurrentDictionary<byte[], TopicEntry> known = Volatile.Read(ref _known);
        return known.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(topic, out TopicEntry? entry) && entry.Version == Version
            ? entry : Resolve(topic);
    }

    /// <summary>The same topic with its takers at this moment.</summary>
    public TopicEntry Refresh(TopicEntry entry) => entry.Version == Version ? entry : Find(entry.Bytes);

    private static ConcurrentDictionary<byte[], TopicEntry> NewKnown() => new(TopicBytes.Comparer);

    private TopicEntry Resolve(ReadOnlySpan<byte> topic)
    {
        lock (_gate)
        {
            Dictionary<byte[], Filter>.AlternateLookup<ReadOnlySpan<byte>> filters = _filters.GetAlternateLookup<ReadOnlySpan<byte>>();
            HashSet<SubscriberQueue> takers = [];
            if (filters.TryGetValue(topic, out Filter? exact))
            {
                takers.UnionWith(exact.Takers(isPrefix: false));
            }

            foreach (int length in _prefixLengths)
            {
                if (length <= topic.Length && filters.TryGetValue(topic[..length], out Filter? prefix))
                {
                    takers.UnionWith(prefix.Takers(isPrefix: true));
                }
            }

            // Topics of the same subscribers share an array: one cache line for 10,000 topics.
            _lastTakers = takers.Count == _lastTakers.Length && takers.SetEquals(_lastTakers) ? _lastTakers : [.. takers];
            var entry = new TopicEntry(topic.ToArray(), Encoding.UTF8.GetString(topic), _lastTakers, _version);
            if (topic.Length <= TopicBytes.MaxLength)
            {
                Remember(entry);
            }

            return entry;
        }
    }

    private void Remember(TopicEntry entry)
    {
        if (_known.ContainsKey(entry.Bytes))
        {
            _known[entry.Bytes] = entry;
            return;
        }

        if (_knownCount == MaxKnown)
        {
            _knownCount = 0;
            Volatile.Write(ref _known, NewKnown());
        }

        _knownCount++;
        _known[entry.Bytes] = entry;
    }

    private bool RemoveOne(SubscriberQueue subscriber, ReadOnlySpan<byte> text, bool isPrefix)
    {
        if (!_filters.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(text, out Filter? filter)
            || !filter.Takers(isPrefix).Remove(subscriber))
        {
            return false;
        }

        subscriber.Filters.Remove((filter.Text, isPrefix));
        _lastTakers = []; // It may be the subscriber's last one.
        CountPrefixes(filter, isPrefix, added: false);
        Volatile.Write(ref _version, _version + 1);
        if (filter.Count == 0)
        {
            _filters.Remove(filter.Text);
            unsubscribe(filter.Text);
        }

        return true;
    }

    private void CountPrefixes(Filter filter, bool isPrefix, bool added)
    {
        if (!isPrefix || filter.Takers(isPrefix: true).Count != (added ? 1 : 0))
        {
            return;
        }

        ref int count = ref _prefixesOfLength[filter.Text.Length];
        count += added ? 1 : -1;
        if (count == (added ? 1 : 0))
        {
            _prefixLengths = [.. Enumerable.Range(0, _prefixesOfLength.Length).Where(length => _prefixesOfLength[length] > 0)];
        }
    }

    /// <summary>One text: an exact topic, a prefix, or both. Peers are asked for it once, as the wire knows prefixes only.</summary>
    private sealed class Filter(byte[] text)
    {
        private readonly HashSet<SubscriberQueue> _exact = [];
        private readonly HashSet<SubscriberQueue> _prefix = [];

        public byte[] Text => text;

        public int Count => _exact.Count + _prefix.Count;

        public HashSet<SubscriberQueue> Takers(bool isPrefix) => isPrefix ? _prefix : _exact;
    }
}
