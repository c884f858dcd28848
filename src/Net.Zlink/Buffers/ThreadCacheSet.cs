using System.Runtime.InteropServices;

namespace Net.Zlink.Buffers;

/// <summary>
/// Only the thread's static refers to this set: its finalizer runs after the thread ended, and returns the buffers to living pools.
/// </summary>
internal sealed class ThreadCacheSet
{
    [ThreadStatic]
    private static ThreadCacheSet? t_current;

    private readonly List<ThreadCache> _caches = [];

#pragma warning disable MA0055
    ~ThreadCacheSet()
#pragma warning restore MA0055
    {
        foreach (ThreadCache cache in _caches)
        {
            if (cache.Pool.TryGetTarget(out BufferPool? pool))
            {
                pool.RetireThreadCache(cache);
            }
        }
    }

    internal static ThreadCacheSet OfThisThread => t_current ??= new ThreadCacheSet();

    /// <summary>A short scan: a process has a handful of pools.</summary>
    internal ThreadCache? Find(object key)
    {
        foreach (ThreadCache cache in CollectionsMarshal.AsSpan(_caches))
        {
            if (ReferenceEquals(cache.Key, key))
            {
                return cache;
            }
        }

        return null;
    }

    internal void Add(ThreadCache cache)
    {
        // Only here would the list grow, in a process that creates and disposes pools.
        _caches.RemoveAll(static old => old.IsClosed);
        _caches.Add(cache);
    }
}
