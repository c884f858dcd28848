using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

internal sealed class RouterCore(EngineHost host) : SocketCore(host, ZmpSocketType.Router)
{
    private readonly PeerTable<PeerLink> _table = new();
    private Dictionary<byte[], TaskCompletionSource>? _awaited;
    private readonly RecentPeers _recent = new();
    private UnreadLanes? _unread;

    public bool IsMandatory { get; set; }

    public DuplicateRoutingId OnTakenId { get; set; }

    public override bool CanSend
    {
        get
        {
            if (!IsMandatory)
            {
                return true;
            }

            using (Gate.EnterScope())
            {
                foreach (PeerLink link in _table.Peers)
                {
                    if (link.HasCapacity)
                    {
                        return true;
                    }
                }

                return false;
            }
        }
    }

    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message)
    {
        PeerLink? link = _recent.Find(routeId);
        if (link is null)
        {
            using (Gate.EnterScope())
            {
                _table.TryGet(routeId, out link);
                _recent.Set(routeId, link);
            }
        }

        SendStatus status = Send(link, message);
        while (status == SendStatus.Unroutable && TryFindOlder(routeId, ref link))
        {
            status = Send(link, message);
        }

        if (status is SendStatus.Accepted or SendStatus.NoMemory || IsMandatory)
        {
            return status;
        }

        if (status == SendStatus.Full)
        {
            Losses.DroppedAtMark(link!);
        }
        else
        {
            Losses.DroppedUnroutable(routeId);
        }

        message.Consume();
        return SendStatus.Dropped;
    }

    /// <inheritdoc/>
    protected override int RouteMany(ReadOnlySpan<byte> routeId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads) =>
        _recent.Find(routeId)?.TrySendMany([], hasFirst: false, payloads) ?? 0;

    /// <inheritdoc/>
    public override SendStatus RouteTo(PeerSlot connection, in OutgoingMessage message) =>
        Send(connection.Link is { } link && IsCurrent(link, connection) ? link : null, message);

    public bool CanSendTo(ReadOnlySpan<byte> routeId) =>
        !BlockedSends.HasEarlierWaiter(new SendTarget(routeId)) && TryFind(routeId, out PeerLink? link) && link.HasCapacity;

    /// <inheritdoc/>
    public override bool Knows(ReadOnlySpan<byte> routeId) => TryFind(routeId, out _);

    public bool TryFind(ReadOnlySpan<byte> routeId, [NotNullWhen(true)] out PeerLink? link)
    {
        using (Gate.EnterScope())
        {
            return _table.TryGet(routeId, out link);
        }
    }

    public override string RefusalReason(PeerIdentity? peer) =>
        $"its routing id{(peer is null ? "" : $", {PeerIdentity.NameOf(peer.RoutingId)},")} is in use on this ROUTER: give each peer one "
            + $"of its own, or set OnDuplicateRoutingId";

    protected override bool Attach(PeerLink link)
    {
        if (link.IsDisplaced)
        {
            return false;
        }

        if (link.Alias is not null)
        {
            if (!_table.TryAdd(link.Alias, link, out byte[]? own))
            {
                return false;
            }

            link.RouteId = own;
        }

        if (link.IsActive)
        {
            IntroduceUnderLock(link);
        }

        return true;
    }

    protected override PeerLink? HolderFor(PeerIdentity newcomer) =>
        OnTakenId == DuplicateRoutingId.ReplaceSilent && _table.TryGet(newcomer.RoutingId, out PeerLink? holder) ? holder : null;

    protected override void Remove(PeerLink link)
    {
        if (link.RouteId is { } id)
        {
            _recent.Remove(id, link);
            link.RouteId = null;
            if (link is { IsAttached: false, IsActive: false } && !Receive.IsDrained(link.Lane))
            {
                _unread ??= new UnreadLanes(Receive);
                _unread.Set(id, link.Lane);
            }

            if (_table.Remove(id, link) && _awaited is not null && _awaited.Remove(id, out TaskCompletionSource? free))
            {
                free.SetResult();
            }
        }
    }

    protected override bool Identify(PeerLink link, PeerIdentity peer, out PeerLink? loser)
    {
        loser = null;
        byte[]? known = link.RouteId;
        if (known is not null && (link.Alias is not null || peer.RoutingId.Length == 0 || peer.RoutingId.AsSpan().SequenceEqual(known)))
        {
            link.Peer = peer with { RoutingId = known };
            return true;
        }

        byte[]? id;
        if (peer.RoutingId.Length == 0)
        {
            id = _table.AddGenerated(link);
        }
        else if (OnTakenId == DuplicateRoutingId.Share)
        {
            id = _table.AddNewest(peer.RoutingId, link);
            _recent.Set(peer.RoutingId, null);
        }
        else if (!_table.TryAdd(peer.RoutingId, link, out id))
        {
            if (OnTakenId != DuplicateRoutingId.Replace && !IsUnowned(peer.RoutingId, link))
            {
                return false;
            }

            loser = _table.Replace(peer.RoutingId, link, out id);
            if (loser is not null)
            {
                _recent.Remove(peer.RoutingId, loser);
                loser.RouteId = null;
                Replace(link, loser);
            }
        }

        Remove(link); // The id of the peer that answered this connect before.
        link.RouteId = id;
        link.Peer = peer with { RoutingId = id };
        if (!link.IsActive)
        {
            _unread?.Precede(id, link.Lane);
            IntroduceUnderLock(link);
        }

        return true;
    }

    public override void OnConnectionLost(WireLink link, bool hasLasted, bool wasBrief)
    {
        using (Gate.EnterScope())
        {
            link.HasLasted |= hasLasted;
            link.WasRejected = wasBrief && !link.HasLasted;
        }

        BlockedSends.Retry(null, link.Peer.Slot);
    }

    /// <summary>
    /// One of our connects was rejected right after its handshake, usually because the peer keeps our id for its own connect: this
    /// newcomer. Without this rule each side would reject the other forever.
    /// </summary>
    private bool IsUnowned(ReadOnlySpan<byte> routeId, PeerLink newcomer) =>
        !newcomer.IsActive && _table.TryGet(routeId, out PeerLink? holder)
            && holder is { Alias: null, IsConnected: false, WasRejected: true };

    /// <summary>Messages queued for a rejected link go to the newcomer, because it is the same peer.</summary>
    private void Replace(PeerLink newcomer, PeerLink loser)
    {
        Leave(loser);
        newcomer.HasReplaced = true;
        loser.IsDisplaced = true;
        if (loser is { IsConnected: false, WasRejected: true, Queue: { } queue })
        {
            newcomer.Queue?.Adopt(queue);
        }
    }

    protected override void DisplacePeer(PeerLink link)
    {
        Detach(link, dropUnread: OnTakenId == DuplicateRoutingId.Replace);
        byte[] routeId = link.Alias ?? link.Peer.RoutingId;
        link.Displace(() => WhenReleased(routeId));
    }

    private static SendStatus Send(PeerLink? link, in OutgoingMessage message)
    {
        SendStatus status = link?.TrySend(message) ?? SendStatus.Unroutable;
        return status == SendStatus.Closed ? SendStatus.Unroutable : status;
    }

    private bool TryFindOlder(ReadOnlySpan<byte> routeId, ref PeerLink? leaving)
    {
        if (leaving is null || OnTakenId != DuplicateRoutingId.Share)
        {
            return false;
        }

        using (Gate.EnterScope())
        {
            _table.RemoveIfShared(routeId, leaving);
            bool isOther = _table.TryGet(routeId, out PeerLink? next) && !ReferenceEquals(next, leaving);
            leaving = next;
            _recent.Set(routeId, next);
            return isOther;
        }
    }

    private Task WhenReleased(byte[] routeId)
    {
        TaskCompletionSource? free = null;
        using (Gate.EnterScope())
        {
            if (_table.TryGet(routeId, out _))
            {
                _awaited ??= new Dictionary<byte[], TaskCompletionSource>(RoutingIdComparer.Instance);
                if (!_awaited.TryGetValue(routeId, out free))
                {
                    free = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously); // It is completed under the lock.
                    _awaited.Add(routeId, free);
                }
            }
        }

        return free?.Task ?? Task.CompletedTask;
    }
}

/// <summary>
/// Peers that a ROUTER has sent to, by the last byte of their id: found without the socket's lock. With one place, a gateway with three
/// receivers took the lock for every message, at half the rate of one receiver.
/// </summary>
internal readonly struct RecentPeers()
{
    private const int Places = 16;

    private readonly PeerLink?[] _peers = new PeerLink?[Places];

    public PeerLink? Find(ReadOnlySpan<byte> id)
    {
        PeerLink? peer = Volatile.Read(ref _peers[PlaceOf(id)]);
        return peer?.RouteId is { } own && id.SequenceEqual(own) ? peer : null;
    }

    public void Set(ReadOnlySpan<byte> id, PeerLink? peer) => Volatile.Write(ref _peers[PlaceOf(id)], peer);

    public void Remove(ReadOnlySpan<byte> id, PeerLink peer)
    {
        ref PeerLink? place = ref _peers[PlaceOf(id)];
        if (ReferenceEquals(place, peer))
        {
            Volatile.Write(ref place, null);
        }
    }

    private static int PlaceOf(ReadOnlySpan<byte> id) => id.IsEmpty ? 0 : id[^1] % Places;
}

/// <summary>What ended connections have left unread, by routing id. A peer that connects again is received behind it.</summary>
internal sealed class UnreadLanes(ReceiveQueue queue)
{
    private const int MinLimit = 16;

    private readonly Dictionary<byte[], InboundLane> _lanes = new(RoutingIdComparer.Instance);
    private int _limit = MinLimit;

    public void Set(byte[] routeId, InboundLane lane)
    {
        _lanes[routeId] = lane;
        if (_lanes.Count <= _limit)
        {
            return;
        }

        // Rarely, and most have been read by now: so each end of a connection costs the same on average.
        foreach ((byte[] id, InboundLane one) in _lanes)
        {
            if (queue.IsDrained(one))
            {
                _lanes.Remove(id);
            }
        }

        _limit = Math.Max(MinLimit, 2 * _lanes.Count);
    }

    public void Precede(byte[] routeId, InboundLane successor)
    {
        if (_lanes.Remove(routeId, out InboundLane? lane) && !ReferenceEquals(lane, successor))
        {
            queue.Follow(lane, successor);
        }
    }
}
