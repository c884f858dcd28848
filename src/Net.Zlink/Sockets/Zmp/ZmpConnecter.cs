using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
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
    private Connection? _connection;
    private bool _isLinkUsed;
    private bool _isClosed;

    public ZmpConnecter(SocketCore socket, WireEndpoint target, ZmpSettings settings)
    {
        _socket = socket;
        _settings = settings;
        Dialer = new DialerLoop(socket.Table, target,
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

    public long? Writes => _connection?.Writes;

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
        var session = new ZmpSession(_socket, _settings, link, wire);
        Volatile.Write(ref _connection, session.Connection);
        session.Start();
        return true;
    }

    public void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger) =>
        _connection?.RequestClose(reason, mode, linger);

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
}
