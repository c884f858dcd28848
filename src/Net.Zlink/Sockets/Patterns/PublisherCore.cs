using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

internal sealed class PublisherCore : SocketCore
{
    // 1,600 usual topics. A ReceiveByteLimit of some 10 KB is meant for messages, and must not end a subscriber of 50 topics.
    private const long LeastTopicBytes = 1024 * 1024;

    private readonly SubscriptionTrie<PeerLink> _subscriptions = new();
    private readonly List<PeerLink> _targets = [];
    private NoticeRules _notices;
    private PeerLink? _lastNotice;
    private PeerLink? _onlyNext;

    // All peers, if each subscribes to everything: every message then has this match, without the lock.
    private PeerLink[]? _everyone;

    public PublisherCore(EngineHost host, bool isExtended)
        : base(host, isExtended ? ZmpSocketType.XPub : ZmpSocketType.Pub)
    {
        RemovalQueue = new SubscriberRemovalQueue(this);
        if (isExtended)
        {
            Notifications = new PublisherNotices(this);
            Counters.Open(Notifications);
        }
    }

    /// <summary>Null: those of PUB are received by nobody.</summary>
    public PublisherNotices? Notifications { get; }

    public SubscriberRemovalQueue RemovalQueue { get; }

    public ref ShortLock TableGate => ref Gate;

    public bool NeverDrops { get; set; }

    public bool Inverts { get; set; }

    /// <summary>Call <see cref="SetNotices"/> afterwards.</summary>
    public bool ManualLastValue { get; set; }

    public byte[] Welcome { get; set; } = [];

    /// <summary>At least <see cref="LeastTopicBytes"/>. 0: none.</summary>
    public long PeerTopicByteLimit { get; set => field = value == 0 ? 0 : Math.Max(value, LeastTopicBytes); }

    public override InboundRole InboundRole => Notifications is null ? InboundRole.Subscriptions : InboundRole.SubscriptionsAndData;

    public override bool CanSend => true;

    public void SetNotices(NoticeRules rules)
    {
        using (Gate.EnterScope())
        {
            _notices = rules;
            FindOnlyNext();
        }
    }

    public int TopicCount
    {
        get
        {
            using (RemovalQueue.EnterTableScope())
            {
                return _subscriptions.PrefixCount;
            }
        }
    }

    public override string DescribeTopics() => FormattableString.Invariant($", topics: {TopicCount}");

    /// <summary>To one subscriber, whatever it has subscribed to.</summary>
    public override SendStatus RouteTo(PeerSlot connection, in OutgoingMessage message) =>
        connection.Link is { } link && IsCurrent(link, connection)
            && link.TrySend(message) is var status and not SendStatus.Closed ? status : SendStatus.Unroutable;

    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message)
    {
        if (Volatile.Read(ref _everyone) is { } everyone && !Inverts && Volatile.Read(ref _onlyNext) is null
            && (everyone.Length == 1 || !NeverDrops))
        {
            return SendToAll(everyone, message);
        }

        PeerLink[]? rented = null;
        PeerLink? single = null;
        int count;

        // Several threads may have seen the same capacity: each may exceed the high-water mark by one message, and none is dropped.
        bool isForced;
        using (Gate.EnterScope())
        {
            Match(message.FirstPart);
            if (_onlyNext is { } only)
            {
                bool matches = _targets.Contains(only);
                _targets.Clear();
                if (matches)
                {
                    _targets.Add(only);
                }
            }

            isForced = NeverDrops;
            if (isForced && !_targets.TrueForAll(static target => target.HasCapacity))
            {
                return SendStatus.Full;
            }

            if (_onlyNext is not null)
            {
                _onlyNext = null;
                _lastNotice = null;
            }

            count = _targets.Count;
            if (count == 1)
            {
                single = _targets[0];
            }
            else if (count > 1)
            {
                rented = System.Buffers.ArrayPool<PeerLink>.Shared.Rent(count);
                _targets.CopyTo(rented);
            }

            if (_everyone is null && !Inverts && RemovalQueue.Count == 0 && count > 0 && count == LinksUnderLock.Count
                && count == _subscriptions.UnfilteredCount)
            {
                Volatile.Write(ref _everyone, [.. _targets]);
            }
        }

        SendStatus status;
        if (rented is null)
        {
            status = Fanout.Send(this, single is null ? [] : new ReadOnlySpan<PeerLink>(in single), message, isForced);
        }
        else
        {
            status = Fanout.Send(this, rented.AsSpan(0, count), message, isForced);
            System.Buffers.ArrayPool<PeerLink>.Shared.Return(rented, clearArray: true);
        }

        return count == 0 ? SendStatus.Dropped : status;
    }

    /// <summary>Messages of two parts for one subscriber, or for none: matched once, queued under one lock. 0 says nothing about
    /// why.</summary>
    public int TrySendTopic(ReadOnlySpan<byte> topic, ReadOnlySpan<ReadOnlyMemory<byte>> payloads)
    {
        if (IsClosed || BlockedSends.HasEarlierWaiter(default))
        {
            return 0;
        }

        PeerLink? only;
        using (Gate.EnterScope())
        {
            if (_onlyNext is not null)
            {
                return 0;
            }

            Match(topic);
            if (_targets.Count > 1)
            {
                return 0;
            }

            only = _targets.Count == 1 ? _targets[0] : null;
        }

        if (only is null)
        {
            Interlocked.Add(ref Counters.Unmatched, payloads.Length);
            return payloads.Length;
        }

        return only.TrySendMany(topic, hasFirst: true, payloads);
    }

    public override bool MayRead(WireLink link) =>
        Notifications is null || (link.Reader?.MayRead(Notifications.PausedReaders) ?? Notifications.PausedReaders.HasCapacity);

    public void SetNoticeLimits(QueueLimits limits) => Notifications?.SetLimits(limits);

    public override SubscriptionOutcome OnSubscription(PeerLink link, ReadOnlySpan<byte> prefix, bool subscribes, bool notifies = true)
    {
        SubscriptionOutcome outcome;
        using (RemovalQueue.EnterTableScope())
        using (Gate.EnterScope())
        {
            outcome = Apply(link, prefix, subscribes, out bool isRepeat);
            if (outcome == SubscriptionOutcome.Notify && notifies)
            {
                Notifications?.Add(link, prefix, subscribes, isRepeat);
            }
        }

        RemovalQueue.FinishSoon();
        Notifications?.AnnounceAll();
        if (subscribes == Inverts || outcome >= SubscriptionOutcome.TooMany)
        {
            OnMaySend(routeId: null);
        }

        return outcome;
    }

    public override void OnDequeued(in DequeuedMessage dequeued)
    {
        if (dequeued.Lease.NoticeOf is PeerLink asker)
        {
            using (Gate.EnterScope())
            {
                _lastNotice = asker.IsAttached ? asker : null;
                FindOnlyNext();
            }
        }
    }

    /// <summary><paramref name="asker"/>: null: of the notice that was read last.</summary>
    public bool ChangeSubscription(PeerLink? asker, ReadOnlySpan<byte> prefix, bool subscribes, out bool isManual)
    {
        PublisherLinkState? state;
        using (RemovalQueue.EnterTableScope())
        using (Gate.EnterScope())
        {
            isManual = _notices.Manual;
            asker ??= _lastNotice;
            state = isManual && asker is { IsAttached: true } ? asker.PatternState as PublisherLinkState : null;
            if (state is not null)
            {
                _everyone = null;
                if (subscribes)
                {
                    _subscriptions.Add(prefix, state.Granted, out _);
                }
                else
                {
                    _subscriptions.Remove(prefix, state.Granted);
                }
            }
        }

        if (state is not null && subscribes == Inverts)
        {
            OnMaySend(routeId: null);
        }

        return state is not null;
    }

    public override void SendWelcome(PeerLink link, GreetingOccasion occasion)
    {
        if (Welcome.Length > 0 && occasion == GreetingOccasion.NewLink)
        {
            link.SendOwn(ZmpFlags.None, Welcome);
        }
    }

    protected override bool Attach(PeerLink link)
    {
        _everyone = null;
        link.PatternState = new PublisherLinkState(_subscriptions, link, link.IsInproc ? null : Host.Subscriptions);
        return true;
    }

    protected override void Remove(PeerLink link)
    {
        _everyone = null;
        _targets.Clear();
        if (ReferenceEquals(_lastNotice, link))
        {
            _lastNotice = null;
            _onlyNext = null;
        }

        var state = (PublisherLinkState)link.PatternState!;
        link.PatternState = null;
        DropTopics(state);
    }

    /// <summary>A connecting link stays attached, and would keep topics that are never removed.</summary>
    private void DropTopics(PublisherLinkState state)
    {
        state.ByteShare.TryReserve(0);
        RemovalQueue.Add(state.Clear(_notices));
    }

    protected override void OnDetached(PeerLink link)
    {
        if (link.IsInproc)
        {
            RemovalQueue.Finish();
        }
        else
        {
            RemovalQueue.FinishSoon();
        }
    }

    /// <summary>Uses the present options, as in the native core: they may change before a notice is answered.</summary>
    private void FindOnlyNext() => Volatile.Write(ref _onlyNext, ManualLastValue && _notices.Manual ? _lastNotice : null);

    private static SubscriptionOutcome OutcomeOf(bool notify) => notify ? SubscriptionOutcome.Notify : SubscriptionOutcome.Silent;

    private SubscriptionOutcome Apply(PeerLink link, ReadOnlySpan<byte> prefix, bool subscribes, out bool isRepeat)
    {
        isRepeat = false;
        if (link.PatternState is not PublisherLinkState state)
        {
            return SubscriptionOutcome.Silent;
        }

        _everyone = null;

        // In manual mode the request is stored for the notices of its loss, and the application decides what counts.
        Subscriber<PeerLink> asked = _notices.Manual ? state.Requested : state.Granted;
        SubscriptionTrie<PeerLink> trie = asked.Trie;
        if (!subscribes)
        {
            SubscriptionRemoval removal = trie.Remove(prefix, asked);
            state.ByteShare.TryReserve(asked.StoredBytes);
            isRepeat = removal != SubscriptionRemoval.LastOfPrefix;
            return OutcomeOf(_notices.NotifiesCancel(removal));
        }

        long held = asked.StoredBytes + SubscriptionTrie<PeerLink>.ChargeOf(prefix.Length);
        bool isTooMany = PeerTopicByteLimit > 0 && !link.IsInproc && held > PeerTopicByteLimit;
        if ((isTooMany || !state.ByteShare.TryReserve(held)) && !trie.Contains(prefix, asked))
        {
            DropTopics(state);
            return isTooMany ? SubscriptionOutcome.TooMany : SubscriptionOutcome.TooManyOfAll;
        }

        if (!trie.Add(prefix, asked, out bool first))
        {
            state.ByteShare.TryReserve(asked.StoredBytes);
        }

        isRepeat = !first;
        return OutcomeOf(_notices.NotifiesSubscribe(first));
    }

    private SendStatus SendToAll(PeerLink[] links, in OutgoingMessage message)
    {
        if (NeverDrops && links.Length == 1)
        {
            SendStatus status = links[0].TrySend(message);
            if (status != SendStatus.Closed)
            {
                return status;
            }
        }

        return Fanout.Send(this, links, message);
    }

    private void Match(ReadOnlySpan<byte> topic)
    {
        _targets.Clear();
        _subscriptions.Match(topic, _targets);
        if (Inverts)
        {
            _targets.Clear();
            foreach (PeerLink link in LinksUnderLock)
            {
                if (!_subscriptions.IsInLastMatch(((PublisherLinkState)link.PatternState!).Granted))
                {
                    _targets.Add(link);
                }
            }
        }
    }
}
