using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>ROUTER: messages go to the peer whose routing id they name, and come with the id of the peer that sent them.</summary>
internal sealed class RouterCore(EngineHost host, InprocRegistry inproc) : SocketCore(host, inproc, ZmpSocketType.Router)
{
    private readonly PeerTable<Pipe> _table = new();
    private Dictionary<byte[], TaskCompletionSource>? _awaited;
    private Pipe? _last;

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

            using (Gate.Hold())
            {
                foreach (Pipe pipe in _table.Peers)
                {
                    if (pipe.HasRoom)
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
        Pipe? pipe = Volatile.Read(ref _last);
        if (pipe?.RouteId is not { } id || !routeId.SequenceEqual(id))
        {
            using (Gate.Hold())
            {
                _table.TryGet(routeId, out pipe);
                Volatile.Write(ref _last, pipe);
            }
        }

        SendStatus status = Send(pipe, message);
        while (status == SendStatus.Unroutable && TryFindOlder(routeId, ref pipe))
        {
            status = Send(pipe, message);
        }

        if (status == SendStatus.Accepted || IsMandatory)
        {
            return status;
        }

        if (status == SendStatus.Full)
        {
            Events.DroppedAtMark(pipe!);
        }
        else
        {
            Events.DroppedUnroutable(routeId);
        }

        message.Consume();
        return SendStatus.Dropped;
    }

    /// <inheritdoc/>
    public override SendStatus RouteTo(PeerSlot connection, in OutgoingMessage message) => Send(connection.Pipe is { } pipe && IsCurrent(pipe, connection) ? pipe : null, message);

    /// <summary>A message for this id would be taken into its peer's queue now. If not, watchers are notified when it would.</summary>
    public bool CanSendTo(ReadOnlySpan<byte> routeId) => !Line.IsInFrontOf(routeId) && TryFind(routeId, out Pipe? pipe) && pipe.HasRoom;

    /// <inheritdoc/>
    public override bool Knows(ReadOnlySpan<byte> routeId) => TryFind(routeId, out _);

    /// <summary>The peer that a message with this id would go to now.</summary>
    public bool TryFind(ReadOnlySpan<byte> routeId, [NotNullWhen(true)] out Pipe? pipe)
    {
        using (Gate.Hold())
        {
            return _table.TryGet(routeId, out pipe);
        }
    }

    public override string WhyNoPlace(PeerIdentity? peer) =>
        $"its routing id{(peer is null ? "" : $", {PeerIdentity.NameOf(peer.RoutingId)},")} is in use on this ROUTER: give each peer one of its own, or set OnDuplicateRoutingId";

    protected override bool Attach(Pipe pipe)
    {
        if (pipe is WirePipe { HasGivenWay: true })
        {
            return false; // Its handshake came to its end in the moment in which another one took over.
        }

        if (pipe.Alias is not null) // Else the handshake tells its id.
        {
            if (!_table.TryAdd(pipe.Alias, pipe, out byte[]? own))
            {
                return false;
            }

            pipe.RouteId = own;
        }

        if (pipe.IsActive)
        {
            IntroduceUnderLock(pipe);
        }

        return true;
    }

    protected override WirePipe? HolderFor(PeerIdentity newcomer) =>
        OnTakenId == TakenIdPolicy.ReplaceSilent && _table.TryGet(newcomer.RoutingId, out Pipe? holder) ? holder as WirePipe : null;

    protected override void Remove(Pipe pipe)
    {
        if (ReferenceEquals(_last, pipe))
        {
            Volatile.Write(ref _last, null); // It may be collected.
        }

        if (pipe.RouteId is { } id)
        {
            pipe.RouteId = null;
            if (_table.Remove(id, pipe) && _awaited is not null && _awaited.Remove(id, out TaskCompletionSource? free))
            {
                free.SetResult();
            }
        }
    }

    protected override bool Identify(Pipe pipe, PeerIdentity peer, out Pipe? loser)
    {
        loser = null;
        if (pipe.RouteId is { } known)
        {
            // A pipe of ours keeps the id that it learnt first, whoever answers there now.
            pipe.Peer = peer with { RoutingId = known };
            return true;
        }

        byte[]? id;
        if (peer.RoutingId.Length == 0)
        {
            id = _table.AddGenerated(pipe);
        }
        else if (OnTakenId == TakenIdPolicy.Share)
        {
            id = _table.AddNewest(peer.RoutingId, pipe);
            Volatile.Write(ref _last, null); // It may have this id.
        }
        else if (!_table.TryAdd(peer.RoutingId, pipe, out id))
        {
            if (OnTakenId != TakenIdPolicy.Replace && !IsKeptForNobody(peer.RoutingId, pipe))
            {
                return false;
            }

            loser = _table.Replace(peer.RoutingId, pipe, out id);
            if (loser is not null)
            {
                loser.RouteId = null;
                TakeOver(pipe as WirePipe, loser);
            }
        }

        pipe.RouteId = id;
        pipe.Peer = peer with { RoutingId = id };
        if (!pipe.IsActive)
        {
            IntroduceUnderLock(pipe); // Not in Attach: here one that is turned away has been.
        }

        return true;
    }

    public override void OnConnectionLost(WirePipe pipe, ZmpSession session)
    {
        using (Gate.Hold())
        {
            pipe.HasLasted |= session.HasLasted;
            pipe.WasTurnedAway = session.WasBrief && !pipe.HasLasted;
        }

        Line.Move(null, pipe.Peer.Slot); // A send to that connection fails now.
    }

    /// <summary>
    /// A connect of ours keeps the newcomer's id from its one connection, which the peer turned away right behind the handshake: as a rule because it keeps our id for a connect of its own, which is this newcomer. Each would turn the other away for good.
    /// </summary>
    private bool IsKeptForNobody(ReadOnlySpan<byte> routeId, Pipe newcomer) =>
        !newcomer.IsActive && _table.TryGet(routeId, out Pipe? holder) && holder is WirePipe { Alias: null, Session: null, WasTurnedAway: true };

    /// <summary>A newcomer has the id of another pipe, which has to go. What waits for a peer that turned that away is this newcomer's: it is the same peer.</summary>
    private void TakeOver(WirePipe? newcomer, Pipe loser)
    {
        Leave(loser);
        newcomer?.HasTakenOver = true;
        if (loser is WirePipe wire)
        {
            wire.HasGivenWay = true;
            if (wire is { Session: null, WasTurnedAway: true })
            {
                newcomer?.Queue.TakeOver(wire.Queue);
            }
        }
    }

    protected override void Evict(Pipe pipe)
    {
        Detach(pipe, dropUnread: OnTakenId == TakenIdPolicy.Replace); // It has left the table already; this lets go of the rest. Of one that was turned away the peer is there.
        if (pipe is WirePipe { Dialer: { } dialer } ours)
        {
            byte[] routeId = pipe.Alias ?? pipe.Peer.RoutingId;
            dialer.GiveWay(ours, () => WhenFree(routeId));
        }
        else if (pipe is WirePipe { Session: { } session })
        {
            session.Evict();
        }
        else
        {
            pipe.Close(DisconnectReason.TakenOver, TimeSpan.Zero);
        }
    }

    private static SendStatus Send(Pipe? pipe, in OutgoingMessage message)
    {
        SendStatus status = pipe?.TrySend(message) ?? SendStatus.Unroutable;
        return status == SendStatus.Closed ? SendStatus.Unroutable : status; // Closed: it is just leaving.
    }

    /// <summary>The peer with this id is just leaving: the next one that shares the id takes its place now.</summary>
    private bool TryFindOlder(ReadOnlySpan<byte> routeId, ref Pipe? leaving)
    {
        if (leaving is null || OnTakenId != TakenIdPolicy.Share)
        {
            return false;
        }

        using (Gate.Hold())
        {
            _table.RemoveIfShared(routeId, leaving);
            bool isOther = _table.TryGet(routeId, out Pipe? next) && !ReferenceEquals(next, leaving);
            leaving = next;
            Volatile.Write(ref _last, next);
            return isOther;
        }
    }

    /// <summary>The connection is not over. A pipe that this side made outlives it, and goes on with the next.</summary>
    private static bool IsCurrent(Pipe pipe, PeerSlot connection) => ReferenceEquals(pipe.Peer.Slot, connection) && pipe is not WirePipe { Session: null };

    /// <summary>Completes when no peer has this routing id.</summary>
    private Task WhenFree(byte[] routeId)
    {
        TaskCompletionSource? free = null;
        using (Gate.Hold())
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
