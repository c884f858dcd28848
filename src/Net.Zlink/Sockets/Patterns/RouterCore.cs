using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>ROUTER: messages go to the peer whose routing id they name, and come with the id of the peer that sent them.</summary>
internal sealed class RouterCore(EngineHost host, InprocRegistry inproc) : SocketCore(host, inproc, ZmpSocketType.Router)
{
    private readonly PeerTable<PeerLink> _table = new();
    private Dictionary<byte[], TaskCompletionSource>? _awaited;
    private PeerLink? _last;

    /// <summary>Messages that cannot be delivered are the sender's business; else they are dropped.</summary>
    public bool IsMandatory { get; set; }

    /// <summary>What happens to a newcomer whose routing id is in use.</summary>
    public TakenIdPolicy OnTakenId { get; set; }

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
        // Whoever was sent to last is found without the lock, as long as that id is its own.
        PeerLink? link = Volatile.Read(ref _last);
        if (link?.RouteId is not { } id || !routeId.SequenceEqual(id))
        {
            using (Gate.EnterScope())
            {
                _table.TryGet(routeId, out link);
                Volatile.Write(ref _last, link);
            }
        }

        SendStatus status = Send(link, message);
        while (status == SendStatus.Unroutable && TryFindOlder(routeId, ref link))
        {
            status = Send(link, message);
        }

        if (status == SendStatus.Accepted || IsMandatory)
        {
            return status;
        }

        if (status == SendStatus.Full)
        {
            Events.DroppedAtMark(link!);
        }
        else
        {
            Events.DroppedUnroutable(routeId);
        }

        message.Consume();
        return SendStatus.Dropped;
    }

    /// <inheritdoc/>
    public override SendStatus RouteTo(PeerSlot connection, in OutgoingMessage message) =>
        Send(connection.Pipe is { } link && IsCurrent(link, connection) ? link : null, message);

    /// <summary>A message for this id would be taken into its peer's queue now. If not, watchers are notified when it would.</summary>
    public bool CanSendTo(ReadOnlySpan<byte> routeId) => !BlockedSends.HasEarlierWaiter(routeId) && TryFind(routeId, out PeerLink? link)
        && link.HasCapacity;

    /// <inheritdoc/>
    public override bool Knows(ReadOnlySpan<byte> routeId) => TryFind(routeId, out _);

    /// <summary>The peer that a message with this id would go to now.</summary>
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
        if (link is WireLink { IsDisplaced: true })
        {
            return false; // Its handshake came to its end in the moment in which another one took over.
        }

        if (link.Alias is not null) // Else the handshake tells its id.
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

    protected override WireLink? HolderFor(PeerIdentity newcomer) =>
        OnTakenId == TakenIdPolicy.ReplaceSilent && _table.TryGet(newcomer.RoutingId, out PeerLink? holder) ? holder as WireLink : null;

    protected override void Remove(PeerLink link)
    {
        if (ReferenceEquals(_last, link))
        {
            Volatile.Write(ref _last, null); // It may be collected.
        }

        if (link.RouteId is { } id)
        {
            link.RouteId = null;
            if (_table.Remove(id, link) && _awaited is not null && _awaited.Remove(id, out TaskCompletionSource? free))
            {
                free.SetResult();
            }
        }
    }

    protected override bool Identify(PeerLink link, PeerIdentity peer, out PeerLink? loser)
    {
        loser = null;
        if (link.RouteId is { } known)
        {
            // A pipe of ours keeps the id that it learnt first, whoever answers there now.
            link.Peer = peer with { RoutingId = known };
            return true;
        }

        byte[]? id;
        if (peer.RoutingId.Length == 0)
        {
            id = _table.AddGenerated(link);
        }
        else if (OnTakenId == TakenIdPolicy.Share)
        {
            id = _table.AddNewest(peer.RoutingId, link);
            Volatile.Write(ref _last, null); // It may have this id.
        }
        else if (!_table.TryAdd(peer.RoutingId, link, out id))
        {
            if (OnTakenId != TakenIdPolicy.Replace && !IsUnowned(peer.RoutingId, link))
            {
                return false;
            }

            loser = _table.Replace(peer.RoutingId, link, out id);
            if (loser is not null)
            {
                loser.RouteId = null;
                Replace(link as WireLink, loser);
            }
        }

        link.RouteId = id;
        link.Peer = peer with { RoutingId = id };
        if (!link.IsActive)
        {
            IntroduceUnderLock(link); // Not in Attach: here one that is turned away has been.
        }

        return true;
    }

    public override void OnConnectionLost(WireLink link, ZmpSession session)
    {
        using (Gate.EnterScope())
        {
            link.HasLasted |= session.HasLasted;
            link.WasRejected = session.WasBrief && !link.HasLasted;
        }

        BlockedSends.Retry(null, link.Peer.Slot); // A send to that connection fails now.
    }

    /// <summary>
    /// A connect of ours keeps the newcomer's id from its one connection, which the peer turned away right behind the handshake: as a rule
    /// because it keeps our id for a connect of its own, which is this newcomer. Each would turn the other away for good.
    /// </summary>
    private bool IsUnowned(ReadOnlySpan<byte> routeId, PeerLink newcomer) =>
        !newcomer.IsActive && _table.TryGet(routeId, out PeerLink? holder)
            && holder is WireLink { Alias: null, Session: null, WasRejected: true };

    /// <summary>A newcomer has the id of another pipe, which has to go. What waits for a peer that turned that away is this newcomer's: it
    /// is the same peer.</summary>
    private void Replace(WireLink? newcomer, PeerLink loser)
    {
        Leave(loser);
        newcomer?.HasReplaced = true;
        if (loser is WireLink wire)
        {
            wire.IsDisplaced = true;
            if (wire is { Session: null, WasRejected: true })
            {
                newcomer?.Queue.Adopt(wire.Queue);
            }
        }
    }

    protected override void DisplacePeer(PeerLink link)
    {
        // It has left the table already; this lets go of the rest. Of one that was turned away the peer is there.
        Detach(link, dropUnread: OnTakenId == TakenIdPolicy.Replace);
        if (link is WireLink { Dialer: { } dialer } ours)
        {
            byte[] routeId = link.Alias ?? link.Peer.RoutingId;
            dialer.YieldRoutingId(ours, () => WhenReleased(routeId));
        }
        else if (link is WireLink { Session: { } session })
        {
            session.Displace();
        }
        else
        {
            link.Close(DisconnectReason.TakenOver, TimeSpan.Zero);
        }
    }

    private static SendStatus Send(PeerLink? link, in OutgoingMessage message)
    {
        SendStatus status = link?.TrySend(message) ?? SendStatus.Unroutable;
        return status == SendStatus.Closed ? SendStatus.Unroutable : status; // Closed: it is just leaving.
    }

    /// <summary>The peer with this id is just leaving: the next one that shares the id takes its place now.</summary>
    private bool TryFindOlder(ReadOnlySpan<byte> routeId, ref PeerLink? leaving)
    {
        if (leaving is null || OnTakenId != TakenIdPolicy.Share)
        {
            return false;
        }

        using (Gate.EnterScope())
        {
            _table.RemoveIfShared(routeId, leaving);
            bool isOther = _table.TryGet(routeId, out PeerLink? next) && !ReferenceEquals(next, leaving);
            leaving = next;
            Volatile.Write(ref _last, next);
            return isOther;
        }
    }

    /// <summary>The connection is not over. A pipe that this side made outlives it, and goes on with the next.</summary>
    private static bool IsCurrent(PeerLink link, PeerSlot connection) => ReferenceEquals(link.Peer.Slot, connection)
        && link is not WireLink { Session: null };

    /// <summary>Completes when no peer has this routing id.</summary>
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
