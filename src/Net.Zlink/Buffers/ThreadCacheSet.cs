using System.Runtime.InteropServices;

namespace Net.Zlink.Buffers;

/// <summary>
/// All caches of one thread, one per pool it used. Reachable from the thread's static only, so it is finalized after the thread died, and
/// gives what the caches hold back to the pools that still live.
/// </summary>
internal sealed class ThreadCacheSet
{
    [ThreadStatic]
    private static ThreadCacheSet? t_current;

    private readonly List<ThreadCache> _caches = [];

#pragma warning disable MA0055 // There is no other way to learn that a thread ended.
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

    /// <summary>The calling thread's set.</summary>
    internal static ThreadCacheSet OfThisThread => t_current ??= new ThreadCacheSet();

    /// <summary>The calling thread's cache of a pool, or null. A short scan: a process has a handful of pools.</summary>
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
        // Here, because it is the one place where the list would otherwise grow without end in a process that makes and disposes pools.
        _caches.RemoveAll(static old => old.IsClosed);
        _caches.Add(cache);
    }
}
