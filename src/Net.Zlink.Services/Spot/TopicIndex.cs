using System.Collections.Concurrent;
using System.Globalization;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>Which subscribers take a topic, and which filters the peers are asked for. Safe for any number of threads; finding a topic that
/// was seen before takes no lock.</summary>
/// <param name="subscribe">The first subscription of a text: asks the peers for it. Called one at a time.</param>
/// <param name="unsubscribe">The last subscription of a text is gone.</param>
internal sealed class TopicIndex(Action<byte[]> subscribe, Action<byte[]> unsubscribe)
{
    // About 3 MB of usual topics.
    private const int MaxKnown = 10_000;

    // When all places are taken, one in so many unknown topics takes the oldest place. So a topic that comes often gets in soon, and a
    // million topics in turn cost half a byte each and not the 500 of an entry.
    private const int UnknownForOnePlace = 1024;

    // Different sets of subscribers that are remembered, however many topics have them.
    private const int MaxSubscriberSets = 1_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<byte[], Filter> _filters = new(TopicBytes.Comparer);
    private readonly int[] _prefixesOfLength = new int[TopicBytes.MaxLength + 1];
    private int[] _prefixLengths = []; // The lengths that a prefix has: a topic is looked up once for each.
    private readonly ConcurrentDictionary<byte[], TopicEntry> _known = new(TopicBytes.Comparer);
    private readonly byte[]?[] _places = new byte[]?[MaxKnown];
    private readonly HashSet<SubscriberQueue> _scratch = [];
    private readonly Dictionary<HashSet<SubscriberQueue>, TopicEntry> _bySubscribers = new(HashSet<SubscriberQueue>.CreateSetComparer());
    private int _nextPlace;
    private int _unknown;
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

            if (subscriber.IsClosed || !filter.Subscribers(isPrefix).Add(subscriber))
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

    /// <summary>Some of what it has subscribed to, for a person.</summary>
    public string Describe(SubscriberQueue subscriber)
    {
        const int Shown = 3;
        lock (_gate)
        {
            string[] shown =
            [
                .. subscriber.Filters.Take(Shown).Select(
                    static filter => $"\"{Encoding.UTF8.GetString(filter.Text)}{(filter.IsPrefix ? "*" : "")}\""),
            ];
            int further = subscriber.Filters.Count - shown.Length;
            return string.Join(", ", shown) + (further > 0 ? string.Create(CultureInfo.InvariantCulture, $" and {further} more") : "");
        }
    }

    /// <summary>Who takes a topic. The entry of one that is not remembered is shared with others, and has neither bytes nor
    /// text.</summary>
    public TopicEntry Find(ReadOnlySpan<byte> topic) =>
        _known.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(topic, out TopicEntry? entry) && entry.Version == Version
            ? entry : Resolve(topic);

    /// <summary>An entry of the topic's own, which a publisher keeps.</summary>
    public TopicEntry FindOwn(ReadOnlySpan<byte> topic)
    {
        TopicEntry entry = Find(topic);
        return entry.Bytes.Length > 0 ? entry : OwnEntry(topic, entry);
    }

    /// <summary>The same topic with its subscribers at this moment.</summary>
    /// <param name="entry">What was found before.</param>
    /// <param name="topic">Its bytes, which a shared entry has not.</param>
    public TopicEntry Refresh(TopicEntry entry, ReadOnlySpan<byte> topic) => entry.Version == Version ? entry : Find(topic);

    private static TopicEntry OwnEntry(ReadOnlySpan<byte> topic, TopicEntry subscribers) =>
        subscribers with { Bytes = topic.ToArray(), Text = Encoding.UTF8.GetString(topic) };

    private TopicEntry Resolve(ReadOnlySpan<byte> topic)
    {
        lock (_gate)
        {
            TopicEntry shared = SubscribersOf(topic);
            if (_known.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(topic, out TopicEntry? known))
            {
                return known.Version == _version ? known
                    : _known[known.Bytes] = shared with { Bytes = known.Bytes, Text = known.Text };
            }

            return topic.Length <= TopicBytes.MaxLength && MayTakePlace() ? Remember(OwnEntry(topic, shared)) : shared;
        }
    }

    private TopicEntry SubscribersOf(ReadOnlySpan<byte> topic)
    {
        Dictionary<byte[], Filter>.AlternateLookup<ReadOnlySpan<byte>> filters = _filters.GetAlternateLookup<ReadOnlySpan<byte>>();
        _scratch.Clear();
        if (filters.TryGetValue(topic, out Filter? exact))
        {
            Collect(exact.Subscribers(isPrefix: false));
        }

        foreach (int length in _prefixLengths)
        {
            if (length <= topic.Length && filters.TryGetValue(topic[..length], out Filter? prefix))
            {
                Collect(prefix.Subscribers(isPrefix: true));
            }
        }

        // Topics of the same subscribers share an array: one cache line for 10,000 topics.
        if (_bySubscribers.TryGetValue(_scratch, out TopicEntry? known) && known.Version == _version)
        {
            return known;
        }

        if (_bySubscribers.Count == MaxSubscriberSets)
        {
            _bySubscribers.Clear();
        }

        SubscriberQueue[] subscribers = known?.Subscribers ?? (_scratch.Count == 0 ? [] : [.. _scratch]);
        var entry = new TopicEntry([], null, subscribers, _version);
        if (known is null)
        {
            _bySubscribers.Add([.. _scratch], entry);
        }
        else
        {
            _bySubscribers[_scratch] = entry;
        }

        return entry;
    }

    private void Collect(HashSet<SubscriberQueue> subscribers)
    {
        foreach (SubscriberQueue subscriber in subscribers) // UnionWith would allocate an enumerator.
        {
            _scratch.Add(subscriber);
        }
    }

    private bool MayTakePlace() => _places[_nextPlace] is null || ++_unknown % UnknownForOnePlace == 0;

    private TopicEntry Remember(TopicEntry entry)
    {
        ref byte[]? place = ref _places[_nextPlace];
        if (place is not null)
        {
            _known.TryRemove(place, out _);
        }

        place = entry.Bytes;
        _nextPlace = (_nextPlace + 1) % MaxKnown;
        return _known[entry.Bytes] = entry;
    }

    private bool RemoveOne(SubscriberQueue subscriber, ReadOnlySpan<byte> text, bool isPrefix)
    {
        if (!_filters.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(text, out Filter? filter)
            || !filter.Subscribers(isPrefix).Remove(subscriber))
        {
            return false;
        }

        subscriber.Filters.Remove((filter.Text, isPrefix));
        _bySubscribers.Clear(); // It may be the subscriber's last one.
        _scratch.Clear();
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
        if (!isPrefix || filter.Subscribers(isPrefix: true).Count != (added ? 1 : 0))
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

        public HashSet<SubscriberQueue> Subscribers(bool isPrefix) => isPrefix ? _prefix : _exact;
    }
}
