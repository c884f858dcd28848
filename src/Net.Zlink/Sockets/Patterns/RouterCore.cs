using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>ROUTER: messages go to the peer whose routing id they name, and come with the id of the peer that sent them.</summary>
internal sealed class RouterCore(EngineHost host, InprocRegistry inproc) : SocketCore(host, inproc, ZmpSocketType.Router)
{
    private readonly PeerTable<Pipe> _table = new();
    private Pipe? _last;

    /// <summary>Messages that cannot be delivered are the sender's business; else they are dropped.</summary>
    public bool IsMandatory { get; set; }

    /// <summary>A newcomer takes over a routing id that is in use.</summary>
    public bool HandsOver { get; set; }

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

        SendStatus status = pipe?.TrySend(message) ?? SendStatus.Unroutable;
        if (status == SendStatus.Closed)
        {
            status = SendStatus.Unroutable; // It is just leaving.
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
        $"its routing id{(peer is null ? "" : $", {PeerIdentity.NameOf(peer.RoutingId)},")} is in use on this ROUTER: give each peer one of its own, or set Handover";

    protected override bool Attach(Pipe pipe)
    {
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

    protected override void Remove(Pipe pipe)
    {
        if (ReferenceEquals(_last, pipe))
        {
            Volatile.Write(ref _last, null); // It may be collected.
        }

        if (pipe.RouteId is { } id)
        {
            pipe.RouteId = null;
            _table.Remove(id, pipe);
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
        else if (!_table.TryAdd(peer.RoutingId, pipe, out id))
        {
            if (!HandsOver)
            {
                return false;
            }

            loser = _table.Replace(peer.RoutingId, pipe, out id);
            if (loser is not null)
            {
                loser.RouteId = null;
                Leave(loser);
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

    /// <remarks>
    /// The first connection of a pipe that the peer ends right behind the handshake is turned away, as a rule because a connection of the peer's own has our id there. That one finds no place here as long as this pipe keeps the peer's id, with nobody behind
    /// it: two ROUTERs that connect to each other would turn each other away for good.
    /// </remarks>
    public override void OnConnectionLost(WirePipe pipe, bool wasBrief)
    {
        byte[]? released = null;
        using (Gate.Hold())
        {
            if (!wasBrief)
            {
                pipe.HasLasted = true;
            }
            else if (!pipe.HasLasted && pipe.Alias is null)
            {
                released = pipe.RouteId;
                Remove(pipe);
            }
        }

        if (released is not null)
        {
            OnMaySend(released); // Who waits for its room would wait for nobody.
        }
    }

    protected override void Evict(Pipe pipe)
    {
        Detach(pipe, dropUnread: true); // It has left the table already; this lets go of the rest.
        if (pipe is WirePipe { Session: { } session })
        {
            session.Evict();
        }
        else
        {
            pipe.Close(DisconnectReason.TakenOver, TimeSpan.Zero);
        }
    }
}
