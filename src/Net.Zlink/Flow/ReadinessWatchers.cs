namespace Net.Zlink.Flow;

/// <summary>Wants to know when something may have become ready. Told outside all locks, on the thread that made it so; it must neither block nor throw.</summary>
internal interface IReadinessWatcher
{
    void OnMayBeReady();
}

/// <summary>Who watches something that becomes ready: one side of a socket, a monitor. Telling costs one volatile read while nobody does, because it stands on the path of every batch that comes in.</summary>
internal sealed class ReadinessWatchers
{
    private readonly Lock _gate = new();
    private IReadinessWatcher[]? _all;

    /// <summary>Adds a watcher; one that is added twice is told twice.</summary>
    public void Add(IReadinessWatcher watcher)
    {
        using (_gate.EnterScope())
        {
            Volatile.Write(ref _all, _all is null ? [watcher] : [.. _all, watcher]);
        }
    }

    /// <summary>Takes a watcher out once. It may still be told a last time by who is telling just now.</summary>
    public void Remove(IReadinessWatcher watcher)
    {
        using (_gate.EnterScope())
        {
            int index = _all is null ? -1 : Array.IndexOf(_all, watcher);
            if (index >= 0)
            {
                Volatile.Write(ref _all, _all!.Length == 1 ? null : [.. _all.AsSpan(0, index), .. _all.AsSpan(index + 1)]);
            }
        }
    }

    /// <summary>Tells all of them.</summary>
    /// <remarks>
    /// The caller has left the lock under which the socket became ready, and whoever waits looks at the socket under the same lock after it began to wait: so either it sees what changed, or it is told.
    /// </remarks>
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

    /// <summary>As <see cref="Notify"/>, for changes that are seen without a lock: a full fence stands between the change and the look for watchers, as between a watcher's beginning and its look.</summary>
    public void NotifyFenced()
    {
        Interlocked.MemoryBarrier();
        Notify();
    }
}
