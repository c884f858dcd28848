using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>Detached subscribers with topics in the publisher's table, and the lock for changes of the table.</summary>
/// <remarks>
/// <para>
/// Removing 100,000 topics held the socket's lock for 26 to 110 ms. So table changes need a second lock. The table is then read without the
/// socket's lock, and that is taken for a few topics at a time. A detached subscriber gets no message from the first moment. Other changes
/// wait until it is removed, so notices have the right order and a topic's first and last subscriber are known exactly.
/// </para>
/// <para>
/// Removals of many topics (10 to 60 ms for 100,000) run on the thread pool, so peers of the same shard do not wait. Order of locks: this
/// one, then the socket's.
/// </para>
/// </remarks>
internal sealed class SubscriberRemovalQueue(PublisherCore core) : IThreadPoolWorkItem
{
    // The shard removes this many itself: 0.2 to 0.5 ms, while waking a pool thread costs 50 us.
    private const int MaxTopicsOnShard = 1_024;

    private const int StateIdle = 0;
    private const int StateRunning = 1;
    private const int StateRequested = 2;

    private readonly Queue<PendingRemoval> _queue = [];
    private ShortLock _changes;
    private long _topics; // Of the queued removals.
    private int _state;

    /// <summary>
    /// Adds a subscriber under the socket's lock. <see cref="Finish"/> or <see cref="FinishSoon"/> must follow outside of it.
    /// </summary>
    public void Add(PendingRemoval removal)
    {
        removal.Granted.HasLeft = true;
        _queue.Enqueue(removal);
        Volatile.Write(ref _topics, _topics + removal.TopicCount);
    }

    /// <summary>Before the socket's lock: the table may be changed until the result is disposed.</summary>
    public ShortLock.Scope EnterTableScope()
    {
        Finish();
        return _changes.EnterScope();
    }

    /// <summary>Removes all detached subscribers with few topics now, others soon. Outside of the socket's lock.</summary>
    public void FinishSoon()
    {
        if (core.LeavingCount == 0)
        {
            return;
        }

        if (Volatile.Read(ref _topics) <= MaxTopicsOnShard && Volatile.Read(ref _state) == StateIdle)
        {
            Finish();
        }
        else if (Interlocked.Exchange(ref _state, StateRequested) == StateIdle)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        do
        {
            Interlocked.Exchange(ref _state, StateRunning); // Before the check of the queue.
            try
            {
                Finish();
            }
#pragma warning disable CA1031 // An error of one publisher must not end the process. On a shard it would be caught too.
            catch (Exception e)
#pragma warning restore CA1031
            {
                Log.SessionFailed(core.Host.Logger, e, "a subscriber that has left");
            }
        }
        while (Interlocked.CompareExchange(ref _state, StateIdle, StateRunning) != StateRunning);
    }

    /// <summary>
    /// Removes all detached subscribers. Outside of the socket's lock, because the receive queue may pass notices to a waiting consumer at
    /// once.
    /// </summary>
    public void Finish()
    {
        while (core.LeavingCount > 0)
        {
            bool isMine = false;
            try
            {
                using (_changes.EnterScope())
                {
                    if (Next() is not { } removal)
                    {
                        return; // Another thread has removed them.
                    }

                    isMine = true;
                    NotifyAndRemove(removal);
                }

                // Here for every remover: the pool thread may take a while to wake up.
                core.Notifications?.AnnounceAll();
            }
            finally
            {
                if (isMine)
                {
                    core.Leave(); // Also after an OutOfMemoryException: the socket waits for this part.
                }
            }
        }
    }

    private PendingRemoval? Next()
    {
        using (core.TableGate.EnterScope())
        {
            if (!_queue.TryDequeue(out PendingRemoval? next))
            {
                return null;
            }

            Volatile.Write(ref _topics, _topics - next.TopicCount);
            return next;
        }
    }

    private void NotifyAndRemove(PendingRemoval removal)
    {
        try
        {
            Notify(removal);
        }
        finally
        {
            core.Notifications?.EndLosses(); // Also after a failed notification: the next subscriber's notices are separate.
            Remove(removal.Granted);
        }
    }

    /// <summary>Without the socket's lock: no other thread changes the table.</summary>
    private void Notify(PendingRemoval removal)
    {
        if (core.Notifications is not { } notices)
        {
            return;
        }

        (PublisherNotices Notices, PendingRemoval Removal) state = (notices, removal);
        if (removal.Requested is { } asked)
        {
            asked.Trie.ForEachPrefix(asked, state, static (prefix, _, state) =>
                NotifyOne(state.Notices, state.Removal, prefix, last: true));
        }
        else
        {
            removal.Granted.Trie.ForEachPrefix(removal.Granted, state,
                static (prefix, last, state) => NotifyOne(state.Notices, state.Removal, prefix, last));
        }
    }

    private static void NotifyOne(PublisherNotices notices, PendingRemoval removal, ReadOnlySpan<byte> prefix, bool last)
    {
        if (removal.Notices.NotifiesLoss(last))
        {
            notices.AddLoss(removal.Link, prefix);
        }
    }

    private void Remove(Subscriber<PeerLink> subscriber)
    {
        var removal = new PrefixRemoval<PeerLink>(subscriber);
        while (removal.Find())
        {
            using (core.TableGate.EnterScope())
            {
                removal.Remove();
            }
        }

        core.OnOut(subscriber);
    }
}
