namespace Net.Zlink.Flow;

/// <summary>A notified watcher must neither block nor throw.</summary>
internal interface IReadinessWatcher
{
    void OnMayBeReady();
}

/// <summary>Without watchers a notification costs one volatile read, since every inbound batch makes one.</summary>
internal sealed class ReadinessWatchers
{
    private readonly Lock _gate = new();
    private IReadinessWatcher[]? _all;

    public void Add(IReadinessWatcher watcher)
    {
        lock (_gate)
        {
            Volatile.Write(ref _all, _all is null ? [watcher] : [.. _all, watcher]);
        }
    }

    /// <summary>Removes it once. A notification in progress may still reach it.</summary>
    public void Remove(IReadinessWatcher watcher)
    {
        lock (_gate)
        {
            int index = _all is null ? -1 : Array.IndexOf(_all, watcher);
            if (index >= 0)
            {
                Volatile.Write(ref _all, _all!.Length == 1 ? null : [.. _all.AsSpan(0, index), .. _all.AsSpan(index + 1)]);
            }
        }
    }

    /// <summary>A watcher reads the socket under that lock after it was added: so it either sees the change or is notified.</summary>
    public void Notify()
    {
        if (Volatile.Read(ref _all) is { } all)
        {
            foreach (IReadinessWatcher watcher in all)
            {
                watcher.OnMayBeReady();
            }
        }
    }

    /// <summary>
    /// For changes without a lock: a full fence separates the change from the read of the watchers, as it separates a watcher's start from
    /// its read.
    /// </summary>
    public void NotifyFenced()
    {
        Interlocked.MemoryBarrier();
        Notify();
    }
}
