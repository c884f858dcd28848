using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>
/// Removing 100,000 topics held the socket's lock for 26 to 110 ms. So table changes need this second lock, taken before the socket's, and
/// that one is taken for a few topics at a time. Other changes wait until a subscriber is removed, so notices have the right order.
/// Removals of many topics run on the thread pool, so peers of the same shard do not wait.
/// </summary>
internal sealed class SubscriberRemovalQueue(PublisherCore core) : IThreadPoolWorkItem
{
    // The shard removes this many itself: 0.2 to 0.5 ms, while waking a pool thread costs 50 us.
    private const int MaxTopicsOnShard = 1_024;

    private const int StateIdle = 0;
    private const int StateRunning = 1;
    private const int StateRequested = 2;

    private readonly Queue<PendingRemoval> _queue = [];
    private ShortLock _changes;
    private int _count;
    private long _topics;
    private int _state;

    /// <summary>Those that have not been removed yet. Read without the lock.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Under the socket's lock; <see cref="Finish"/> or <see cref="FinishSoon"/> must follow outside of it.</summary>
    public void Add(PendingRemoval removal)
    {
        core.Parts.Reenter();
        removal.Granted.HasLeft = true;
        _queue.Enqueue(removal);
        Volatile.Write(ref _count, _count + 1);
        Volatile.Write(ref _topics, _topics + removal.TopicCount);
    }

    public ShortLock.Scope EnterTableScope()
    {
        Finish();
        return _changes.EnterScope();
    }

    public void FinishSoon()
    {
        if (Count == 0)
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
            Interlocked.Exchange(ref _state, StateRunning);
            try
            {
                Finish();
            }
            catch (Exception e)
            {
                Log.SessionFailed(core.Host.Logger, e, "a subscriber that has left");
            }
        }
        while (Interlocked.CompareExchange(ref _state, StateIdle, StateRunning) != StateRunning);
    }

    /// <summary>Called outside of the socket's lock, because the receive queue may pass notices to a waiting consumer at once.</summary>
    public void Finish()
    {
        while (Count > 0)
        {
            bool isMine = false;
            try
            {
                using (_changes.EnterScope())
                {
                    if (Next() is not { } removal)
                    {
                        return;
                    }

                    isMine = true;
                    NotifyAndRemove(removal);
                }

                core.Notifications?.AnnounceAll();
            }
            finally
            {
                if (isMine)
                {
                    core.Parts.Leave();
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
            core.Notifications?.EndLosses();
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

        // In ascending order, as in the native core.
        List<(byte[] Prefix, bool IsLast)> lost = [.. (removal.Requested ?? removal.Granted).Prefixes];
        lost.Sort(static (one, other) => one.Prefix.AsSpan().SequenceCompareTo(other.Prefix));
        foreach ((byte[] prefix, bool isLast) in lost)
        {
            if (removal.Notices.NotifiesLoss(isLast))
            {
                notices.AddLoss(removal.Link, prefix, isRepeat: !isLast);
            }
        }
    }

    private void Remove(Subscriber<PeerLink> subscriber)
    {
        var left = subscriber.Slots.GetEnumerator();
        bool mayHaveMore = true;
        while (mayHaveMore)
        {
            using (core.TableGate.EnterScope())
            {
                mayHaveMore = subscriber.Trie.RemoveSome(ref left);
            }
        }

        using (core.TableGate.EnterScope())
        {
            subscriber.Trie.Forget(subscriber);
            Volatile.Write(ref _count, _count - 1);
        }
    }
}

internal sealed record PendingRemoval(PeerLink Link, Subscriber<PeerLink> Granted, Subscriber<PeerLink>? Requested,
    NoticeRules Notices)
{
    public int TopicCount { get; } = Granted.PrefixCount + (Requested?.PrefixCount ?? 0);
}

internal sealed class PublisherLinkState(SubscriptionTrie<PeerLink> trie, PeerLink link, FairLimit? limit)
{
    public FairLimitShare ByteShare = new(limit);

    private Subscriber<PeerLink>? _requested;

    public Subscriber<PeerLink> Granted { get; private set; } = trie.NewSubscriber(link);

    /// <summary>In a trie of its own: what others have asked for does not matter.</summary>
    public Subscriber<PeerLink> Requested => _requested ??= new SubscriptionTrie<PeerLink>().NewSubscriber(link);

    public PendingRemoval Clear(NoticeRules notices)
    {
        var removal = new PendingRemoval(link, Granted, notices.Manual ? Requested : null, notices);
        Granted = trie.NewSubscriber(link);
        _requested = notices.Manual ? null : _requested;
        return removal;
    }
}
