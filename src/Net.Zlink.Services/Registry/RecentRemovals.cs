namespace Net.Zlink.Services;

/// <summary>The entries that have left a registry by word, for as long as its lists name them. Guarded by the lock of the
/// registry.</summary>
internal sealed class RecentRemovals
{
    // From the oldest to the newest.
    private readonly OrderedDictionary<EntryKey, TimeSpan> _removedAt = [];
    private byte[]? _frame;

    public void Add(TimeSpan now, in EntryKey key)
    {
        _removedAt.Remove(key);
        _removedAt.Add(key, now);
        if (_removedAt.Count > ListRemovals.MaxCount)
        {
            _removedAt.RemoveAt(0);
        }

        _frame = null;
    }

    /// <summary>It is listed again: when it vanishes without a word next, this must not be taken for one.</summary>
    public void Forget(in EntryKey key)
    {
        if (_removedAt.Remove(key))
        {
            _frame = null;
        }
    }

    /// <summary>The frame for a list; empty: there is none. The array is not changed afterwards.</summary>
    public byte[] FrameAt(TimeSpan now)
    {
        while (_removedAt.Count > 0 && now - _removedAt.GetAt(0).Value > ListRemovals.Time)
        {
            _removedAt.RemoveAt(0);
            _frame = null;
        }

        return _frame ??= ListRemovals.Encode(_removedAt.Keys.Reverse());
    }
}
