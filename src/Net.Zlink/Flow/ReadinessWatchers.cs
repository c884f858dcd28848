using System.Collections.Immutable;

namespace Net.Zlink.Flow;

/// <summary>A notified watcher must neither block nor throw.</summary>
internal interface IReadinessWatcher
{
    void OnMayBeReady();
}

/// <summary>Without watchers a notification costs one read, since every inbound batch makes one.</summary>
internal sealed class ReadinessWatchers
{
    private ImmutableArray<IReadinessWatcher> _all = [];

    public void Add(IReadinessWatcher watcher) => ImmutableInterlocked.Update(ref _all, static (all, one) => all.Add(one), watcher);

    /// <summary>Removes it once. A notification in progress may still reach it.</summary>
    public void Remove(IReadinessWatcher watcher) => ImmutableInterlocked.Update(ref _all, static (all, one) => all.Remove(one), watcher);

    /// <summary>A watcher reads the socket under that lock after it was added: so it either sees the change or is notified.</summary>
    public void Notify()
    {
        foreach (IReadinessWatcher watcher in _all)
        {
            watcher.OnMayBeReady();
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
