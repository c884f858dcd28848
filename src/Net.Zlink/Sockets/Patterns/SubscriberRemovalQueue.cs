using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>Subscribers that have left a publisher and whose topics are still in its table; and the lock of those who change the
/// table.</summary>
/// <remarks>
/// 100,000 topics held the socket's lock, which each message wants, for 26 to 110 ms. So who changes the table holds another one besides:
/// the table can then be read without the socket's lock, to tell of topics in their order, and that lock is taken for a few topics at a
/// time. To a subscriber that has left no message goes from the first moment on. Who else wants to change the table waits until it is out,
/// so that notices stand in the order in which things happened, and who is the first of a topic, or was the last, is known exactly.
/// <para>
/// Nor do the others of a shard wait for one that leaves with many topics, 10 to 60 ms for 100,000: the thread pool takes such a one out.
/// Whoever subscribes meanwhile waits.
/// </para>
/// Order of locks: this one, then the socket's.
/// </remarks>
internal sealed class SubscriberRemovalQueue(PublisherCore core) : IThreadPoolWorkItem
{
    // A shard takes out as many itself: 0.2 to 0.5 ms, where handing it over costs a thread 50 us to wake up.
    private const int MaxTopicsOnShard = 1_024;

    private const int StateIdle = 0;
    private const int StateRunning = 1;
    private const int StateRequested = 2;

    private readonly Queue<PendingRemoval> _queue = [];
    private ShortLock _changes;
    private long _topics; // Of those in line.
    private int _state;

    /// <summary>Takes note of a subscriber: under the socket's lock. <see cref="Finish"/> or <see cref="FinishSoon"/> has to follow,
    /// outside of it.</summary>
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

    /// <summary>All that have left will be out of the table, or are, if they had few topics. Outside of the socket's lock.</summary>
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
            Interlocked.Exchange(ref _state, StateRunning); // Before the look at the line.
            try
            {
                Finish();
            }
#pragma warning disable CA1031 // One publisher's fault, not the process's: on a shard it would be caught too.
            catch (Exception e)
#pragma warning restore CA1031
            {
                Log.SessionFailed(core.Host.Logger, e, "a subscriber that has left");
            }
        }
        while (Interlocked.CompareExchange(ref _state, StateIdle, StateRunning) != StateRunning);
    }

    /// <summary>All that have left are out of the table when this returns. Outside of the socket's lock, because the receive queue may hand
    /// notices to a waiting consumer at once.</summary>
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
                        return; // Another thread was at it, and is through.
                    }

                    isMine = true;
                    NotifyAndRemove(removal);
                }

                // Here, by whoever it was: the thread of the one that has left may be a while in waking up.
                core.Notifications?.AnnounceAll();
            }
            finally
            {
                if (isMine)
                {
                    core.Leave(); // Where memory ran out as well: the socket waits for this one to end.
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
            core.Notifications?.EndLosses(); // Where telling failed, too: the next one's are not this one's.
            Remove(removal.Granted);
        }
    }

    /// <summary>Without the socket's lock: nobody else changes the table.</summary>
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
