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
