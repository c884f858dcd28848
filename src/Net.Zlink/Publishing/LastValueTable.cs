namespace Net.Zlink;

internal sealed class LastValueTable(int maxTopics, long maxBytes)
{
    // The two arrays and the object of an entry, rounded up.
    private const int EntryOverhead = 64;

    private readonly List<Entry> _entries = [];

    public int Count => _entries.Count;

    public long Bytes { get; private set; }

    public bool TrySet(ReadOnlySpan<byte> topic, ReadOnlySpan<byte> value)
    {
        int index = LowerBound(topic);
        if (index < _entries.Count && topic.SequenceEqual(_entries[index].Topic))
        {
            Entry entry = _entries[index];
            long growth = value.Length - entry.Length;
            if (growth > 0 && Bytes + growth > maxBytes)
            {
                return false;
            }

            entry.Set(value);
            Bytes += growth;
            return true;
        }

        long size = (long)topic.Length + value.Length + EntryOverhead;
        if (_entries.Count >= maxTopics || Bytes + size > maxBytes)
        {
            return false;
        }

        var added = new Entry(topic.ToArray());
        added.Set(value);
        _entries.Insert(index, added);
        Bytes += size;
        return true;
    }

    public bool Remove(ReadOnlySpan<byte> topic)
    {
        int index = LowerBound(topic);
        if (index == _entries.Count || !topic.SequenceEqual(_entries[index].Topic))
        {
            return false;
        }

        Bytes -= (long)topic.Length + _entries[index].Length + EntryOverhead;
        _entries.RemoveAt(index);
        return true;
    }

    /// <summary>The index of the first topic that is not before these bytes: where the topics with this prefix begin.</summary>
    public int LowerBound(ReadOnlySpan<byte> prefix)
    {
        (int low, int high) = (0, _entries.Count);
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (prefix.SequenceCompareTo(_entries[middle].Topic) > 0)
            {
                low = middle + 1;
            }
            else
            {
                high = middle;
            }
        }

        return low;
    }

    public ReadOnlySpan<byte> TopicAt(int index) => _entries[index].Topic;

    public ReadOnlySpan<byte> ValueAt(int index) => _entries[index].Value;

    private sealed class Entry(byte[] topic)
    {
        private byte[] _buffer = [];

        public byte[] Topic { get; } = topic;

        public int Length { get; private set; }

        public ReadOnlySpan<byte> Value => _buffer.AsSpan(0, Length);

        public void Set(ReadOnlySpan<byte> value)
        {
            // A much shorter value gives the memory back; else values of similar lengths would allocate each time.
            if (value.Length > _buffer.Length || value.Length < _buffer.Length / 2)
            {
                _buffer = new byte[value.Length];
            }

            value.CopyTo(_buffer);
            Length = value.Length;
        }
    }
}
