using System.Runtime.InteropServices;

namespace Net.Zlink.Buffers;

/// <summary>Only the pool refers to the registry: its finalizer empties the caches of a pool that was not disposed.</summary>
internal sealed class ThreadCacheRegistry
{
    private readonly Lock _gate = new();
    private readonly List<ThreadCache> _caches = [];
    private readonly long[] _retiredRented = new long[SizeClasses.Count];
    private readonly long[] _retiredReturned = new long[SizeClasses.Count];
    private bool _closed;

#pragma warning disable MA0055 // A pool that was not disposed must not leave its buffers in living threads' caches.
    ~ThreadCacheRegistry() => Close();
#pragma warning restore MA0055

    internal ThreadCache Create(object key, WeakReference<BufferPool> pool)
    {
        lock (_gate)
        {
            var cache = new ThreadCache(key, pool);
            _caches.Add(cache);
            if (_closed)
            {
                cache.Close();
            }

            return cache;
        }
    }

    internal void Retire(ThreadCache cache, ReadOnlySpan<BufferClass> classes)
    {
        lock (_gate)
        {
            if (!_caches.Remove(cache))
            {
                return;
            }

            for (int index = 0; index < SizeClasses.Count; index++)
            {
                _retiredRented[index] += cache.RentedOf(index);
                _retiredReturned[index] += cache.ReturnedOf(index);
            }

            cache.MoveToStores(classes);
        }
    }

    /// <summary>The lock makes it one at a time: see <see cref="BufferClass.Trim"/>.</summary>
    internal void Trim(int classIndex, BufferClass bufferClass, bool onlyUnused)
    {
        lock (_gate)
        {
            bufferClass.Trim(classIndex, CollectionsMarshal.AsSpan(_caches), onlyUnused);
        }
    }

    internal BufferClassStatistics[] Snapshot(ReadOnlySpan<BufferClass> classes)
    {
        var snapshot = new BufferClassStatistics[classes.Length];
        lock (_gate)
        {
            for (int index = 0; index < classes.Length; index++)
            {
                snapshot[index] = Snapshot(index, classes[index]);
            }
        }

        return snapshot;
    }

    internal void Close()
    {
        lock (_gate)
        {
            _closed = true;
            foreach (ThreadCache cache in _caches)
            {
                cache.Close();
            }
        }
    }

    private BufferClassStatistics Snapshot(int classIndex, BufferClass bufferClass)
    {
        // All returns are read before any rent: each return follows its rent, so Live is never negative.
        long returned = _retiredReturned[classIndex];
        foreach (ThreadCache cache in _caches)
        {
            returned += cache.ReturnedOf(classIndex);
        }

        long rented = _retiredRented[classIndex];
        int kept = bufferClass.Store.Count;
        foreach (ThreadCache cache in _caches)
        {
            rented += cache.RentedOf(classIndex);
            kept += cache.CountKept(classIndex);
        }

        return new BufferClassStatistics
        {
            Size = bufferClass.Size,
            Rented = rented,
            Returned = returned,
            Allocated = bufferClass.Allocated,
            Rejected = bufferClass.Rejected,
            Trimmed = bufferClass.Trimmed,
            Kept = kept,
        };
    }
}

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
