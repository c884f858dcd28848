using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// Connections that are not read because a shared limit is reached, resumed first come, first served, as many as there is capacity for.
/// Resuming all at once cost 400 works of the shards for each message, with 2,000 connections and a high-water mark of 1. A resume ends
/// behind the connection's own work, whatever that did; then the next begins, if there is capacity. So none is forgotten: while a
/// connection waits, either a resume is pending, or the limit was found reached after it began to wait. Order of locks: this one, then
/// the limit's.
/// </summary>
internal sealed class PausedReaders(IReadLimit limit)
{
    // Each resumed connection may exceed the limits by a read of 64 KiB: 4 MiB in all.
    private const int MaxConcurrentResumes = 64;

    private readonly LinkedList<PausedReader> _readers = [];
    private ShortLock _gate;
    private int _resumes;
    private int _count;

    /// <summary>Read without the lock.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>A connection that may not read is resumed in its turn.</summary>
    public bool MayRead(LaneOwner link)
    {
        PausedReader? waiter = link.PausedReader;
        if (limit.MayRead())
        {
            waiter?.OnCapacityFound();
            return true;
        }

        if (link.Reader is not { } connection)
        {
            return false;
        }

        if (waiter is null || !waiter.IsOf(connection))
        {
            Remove(waiter);
            link.PausedReader = waiter = new PausedReader(this, connection);
        }

        return !Add(waiter);
    }

    public bool Add(PausedReader waiter)
    {
        if (waiter.IsQueued)
        {
            return true; // Found full after the addition: the thread that makes capacity finds the waiter here.
        }

        using (_gate.EnterScope())
        {
            waiter.Add(_readers);
            Volatile.Write(ref _count, _readers.Count);
        }

        if (!limit.MayRead())
        {
            return true;
        }

        Remove(waiter);
        waiter.OnCapacityFound();
        return false;
    }

    public void Remove(PausedReader? waiter)
    {
        if (waiter is { IsQueued: true })
        {
            using (_gate.EnterScope())
            {
                waiter.Remove(_readers);
                Volatile.Write(ref _count, _readers.Count);
            }
        }
    }

    public void ResumeWaiters()
    {
        while (Next() is { } next)
        {
            next.BeginResume();
        }
    }

    public void FinishResumes(PausedReader waiter)
    {
        using (_gate.EnterScope())
        {
            _resumes -= waiter.EndResumes();
        }

        ResumeWaiters();
    }

    private PausedReader? Next()
    {
        using (_gate.EnterScope())
        {
            if (_readers.First is not { } first || _resumes >= MaxConcurrentResumes || !limit.MayRead() || _resumes >= limit.FreeReads)
            {
                return null;
            }

            _resumes++;
            first.Value.TryResume(_readers);
            Volatile.Write(ref _count, _readers.Count);
            return first.Value;
        }
    }
}
