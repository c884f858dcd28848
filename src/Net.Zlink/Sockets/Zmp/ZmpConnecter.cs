using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>One connect of a ZMP socket: its link outlives its connections, except with IMMEDIATE.</summary>
internal sealed class ZmpConnecter : IConnecter
{
    private readonly SocketCore _socket;
    private readonly ZmpSettings _settings;
    private readonly Lock _gate = new();
    private WireLink _link;
    private ZmpSession? _session;
    private bool _isLinkUsed;
    private bool _isClosed;

    public ZmpConnecter(SocketCore socket, WireEndpoint target, ZmpSettings settings)
    {
        _socket = socket;
        _settings = settings;
        Dialer = new DialerLoop(socket.Endpoints.Table, target,
            new DialerSettings(settings.Transport, settings.Reconnect, settings.Connection.CloseTimeout)
            {
                RetriesFaults = settings.ReconnectAfterFault,
                Name = settings.Alias ?? [],
            },
            this);
        _link = NewLink();
    }

    public DialerLoop Dialer { get; }

    public WireLink Link => Volatile.Read(ref _link);

    public bool HasQueued => Link.Queue.Counts.QueuedMessages > 0;

    public long? Writes => _session?.Connection.Writes;

    /// <summary>How the dialer is to see a connection's end.</summary>
    public static ConnectionEnd EndOf(ZmpSession session)
    {
        // The peer displaced it: reconnecting would displace the other connection, and so on.
        bool isOutdone = session.Fault is { PeersCode: ZmpErrorCode.RoutingIdTakenOver };
        // Both sides displaced the other's connection at the same moment: both are lost, and the id is free.
        bool isMutual = isOutdone && !session.HasLasted && session.Link.HasReplaced;
        return new ConnectionEnd($"{(session.IsReady ? "the connection ended" : "the handshake failed")}: {session.EndDetail}")
        {
            WasReady = session.IsReady,
            ReadyFor = session.ReadyFor,
            WasBrief = session is { WasBrief: true, EndReason: DisconnectReason.Remote },
            IsFault = session.Fault is { IsTimeout: false },
            WhyNoFurther = session.Fault is { ConnecterTriesAgain: false } fault && !isMutual
                ? WhyNoFurther(session, fault, always: isOutdone) : null,
            IsFinal = isOutdone,
            IsMutual = isMutual,
        };
    }

    public bool Begin(Wire wire)
    {
        _socket.Parts.Reenter();
        WireLink link = Link;
        if (_settings.Immediate && _isLinkUsed)
        {
            link = NewLink();
            Volatile.Write(ref _link, link);
        }

        _isLinkUsed = true;
        var session = new ZmpSession(_socket, _settings, link, wire, Dialer.Target.Redacted, listener: null);
        Volatile.Write(ref _session, session);
        if (!wire.HadHandshake)
        {
            _socket.Events.Publish(SocketEventTypes.Connected, wire.Handle, session, detail: null);
        }

        _socket.Endpoints.Sessions.Track(session);
        session.Start();
        return true;
    }

    public void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger) =>
        _session?.Connection.RequestClose(reason, mode, linger);

    public void Close()
    {
        WireLink link;
        lock (_gate)
        {
            _isClosed = true;
            link = _link;
        }

        // A link that has lost its connection, with IMMEDIATE, has no peer to be disconnected: what that one sent stays readable.
        _socket.Detach(link, dropUnread: _socket.Has(link));
        link.Queue.Close();
    }

    public bool Renew()
    {
        WireLink before;
        lock (_gate)
        {
            if (_isClosed)
            {
                return false; // The close has seen the old link, with messages to deliver.
            }

            (before, _link, _isLinkUsed) = (_link, NewLink(), false);
        }

        Release(before);
        if (!_settings.Immediate && _settings.Alias is null)
        {
            // Attached as by Connect, so that it appears among the peers. A link with an alias would wait for itself.
            _socket.TryAttach(Link, peer: null);
        }

        return true;
    }

    public void Release(string why)
    {
        if (why.Length > 0)
        {
            // First: a reader of the event may reconnect at once.
            _socket.GivenUp.Add(Dialer.Text, why);
            _socket.Detach(Link, dropUnread: false);
            EndpointEvents.GivenUp(_socket.Monitors, _socket.Host, Dialer.Target.Redacted, Dialer.Name, why);
        }

        Release(Link);
    }

    private void Release(WireLink link)
    {
        _socket.Detach(link, dropUnread: false);
        link.Queue.Abandon();
        _socket.FinalizeCounters(link);
    }

    private WireLink NewLink() => new(_socket, _settings)
    {
        Endpoint = Dialer.Target.Redacted,
        IsActive = true,
        Alias = _settings.Alias,
        Dialer = Dialer,
    };

    private static string WhyNoFurther(ZmpSession session, in ZmpFault fault, bool always)
    {
        string what = fault.Origin != ZmpFaultOrigin.Received ? $"the peer broke the protocol: {fault.Reason}"
            : $"the peer answered with an ERROR, {ZmpSession.WordsOf(fault)}";
        return $"{what}{session.OtherProtocolText}{(always ? "" : "; ReconnectAfterFault would retry it")}";
    }
}
