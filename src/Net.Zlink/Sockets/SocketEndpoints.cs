using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class SocketEndpoints(SocketCore socket, InprocRegistry inproc)
{
    private readonly Lock _gate = new();
    private readonly EndpointTable _bound = new(socket.Host, socket.Monitors, socket.Counters, socket.Parts);
    private readonly Dictionary<string, ZmpDialer> _dialers = new(StringComparer.Ordinal);
    private readonly HashSet<byte[]> _aliases = new(RoutingIdComparer.Instance);
    private readonly ListsByKey<string, ZmpDialer> _lingering = new(StringComparer.Ordinal);
    private readonly InprocEndpoints _inproc = new(socket, inproc);
    private readonly SocketSessions _sessions = new();

    public int MaxConnections
    {
        get => _sessions.Limit;
        set => _sessions.Limit = value;
    }

    public EndpointStatus[] All
    {
        get
        {
            string[] connected;
            lock (_gate)
            {
                connected = [.. _dialers.Keys];
            }

            return [.. _bound.Bound, .. _inproc.Bound, .. connected.Select(static text => new EndpointStatus(text, IsBound: false)),
                .. _inproc.Connected];
        }
    }

    /// <summary>Dialers without an attached link: with IMMEDIATE, those without a connection.</summary>
    public ZmpDialer[] DialersWithoutLink
    {
        get
        {
            ZmpDialer[] all;
            lock (_gate)
            {
                all = [.. _dialers.Values];
            }

            return [.. all.Where(dialer => !socket.Has(dialer.Link))];
        }
    }

    public int InprocCount => _inproc.Count;

    /// <inheritdoc cref="SocketSessions.AcquireConnection"/>
    public string? AcquireConnection() => socket.Host.Budget is { IsFullOfDetached: true }
        ? "unread messages of disconnected peers fill the context's QueuedByteLimit; receive them, or raise the limit"
        : _sessions.AcquireConnection();

    /// <inheritdoc cref="SocketSessions.ReleaseConnection"/>
    public void ReleaseConnection() => _sessions.ReleaseConnection();

    public EndpointError Bind(string text, ZmpSettings settings, out string endpoint)
    {
        endpoint = text;
        if (!TransportTable.TryParse(text, EndpointUse.Bind, out TransportEndpoint parsed, out EndpointError error))
        {
            return EndpointEvents.BindFailed(socket.Monitors, text, error);
        }

        if (parsed is not WireEndpoint target)
        {
            return _inproc.Bind(parsed.Path, settings);
        }

        return _bound.Bind(target, settings.Transport, new ZmpAcceptor(socket, settings), out endpoint);
    }

    /// <summary>A text that is connected or bound by this socket stays as it is. With inproc each call makes a link.</summary>
    public EndpointError Connect(string text, ZmpSettings settings, out bool wasThere)
    {
        wasThere = false;
        if (!TransportTable.TryParse(text, EndpointUse.Connect, out TransportEndpoint parsed, out EndpointError error))
        {
            return error;
        }

        if (parsed is not WireEndpoint target)
        {
            return _inproc.Connect(parsed.Path, text, settings) ?? OnRejected(text, settings);
        }

        ZmpDialer dialer;
        lock (_gate)
        {
            // As in the native core, this socket's own bound endpoint counts as connected: a ROUTER or PAIR would reject itself again and
            // again.
            if (_dialers.ContainsKey(text) || _bound.Has(text))
            {
                wasThere = true;
                return EndpointError.None;
            }

            dialer = new ZmpDialer(socket, target, settings, _lingering.LastOf(text));
            if (dialer.Alias is { } name && !_aliases.Add(name))
            {
                return OnRejected(text, settings);
            }

            _dialers.Add(text, dialer);
        }

        if (settings.Immediate ? settings.Alias is { } wanted && socket.Knows(wanted) : !socket.TryAttach(dialer.Link, peer: null))
        {
            dialer.Discard();
            return OnRejected(text, settings);
        }

        if (!socket.Parts.TryEnter())
        {
            dialer.Drop();
            return EndpointError.None;
        }

        if (!settings.Immediate)
        {
            socket.SendWelcome(dialer.Link, GreetingOccasion.NewLink);
        }

        dialer.Start();
        return EndpointError.None;
    }

    /// <summary>Unread messages of connected peers are dropped, those of accepted peers stay.</summary>
    public bool Remove(string text, TimeSpan linger)
    {
        bool parsed = TransportTable.TryParseWire(text, EndpointUse.Bind, out WireEndpoint target, out _);
        List<BoundListener> listeners = _bound.Remove(text, parsed ? target : null);
        ZmpDialer[] dialled;
        lock (_gate)
        {
            dialled = _dialers.TryGetValue(text, out ZmpDialer? exact) ? [exact] : parsed ? [.. _dialers.Values] : [];
        }

        // A name may need a lookup, so without the lock.
        List<ZmpDialer> dialers = [.. dialled.Where(
            d => string.Equals(d.Text, text, StringComparison.Ordinal) || (parsed && target.Names(d.Target)))];
        lock (_gate)
        {
            // From now on the text can be connected again.
            dialers.RemoveAll(d => !RemoveDialer(d));
            dialers.ForEach(d => _lingering.Add(d.Text, d));
        }

        foreach (BoundListener listener in listeners)
        {
            listener.Linger = linger;
            listener.Close();
            foreach (ZmpSession session in _sessions.Of(listener))
            {
                session.Link.Lane.Close();
                socket.Detach(session.Link, dropUnread: false); // As in the native core: unbinding leaves unread messages readable.
                session.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly, linger);
            }
        }

        foreach (ZmpDialer dialer in dialers)
        {
            // A link that has lost its connection, with IMMEDIATE, has no peer to be disconnected: what that one sent stays readable.
            socket.Detach(dialer.Link, dropUnread: socket.Has(dialer.Link));
            dialer.Close(DisconnectReason.Local, linger);
        }

        return _inproc.Remove(text, linger) || listeners.Count + dialers.Count > 0;
    }

    public bool StopListening(string text)
    {
        List<BoundListener> listeners = _bound.Remove(
            text, TransportTable.TryParseWire(text, EndpointUse.Bind, out WireEndpoint target, out _) ? target : null);
        listeners.ForEach(static listener => listener.Close(keepsPeers: true));
        return _inproc.Unbind(text) || listeners.Count > 0;
    }

    /// <inheritdoc cref="SocketSessions.Track"/>
    public void Track(ZmpSession session) => _sessions.Track(session);

    public void Forget(ZmpSession session) => _sessions.Forget(session);

    public void Forget(InprocLink link) => _inproc.Forget(link);

    public void Forget(ZmpDialer dialer)
    {
        lock (_gate)
        {
            RemoveDialer(dialer);
            if (dialer.Over.IsCompleted)
            {
                _lingering.Remove(dialer.Text, dialer);
            }
        }
    }

    public void Close(TimeSpan linger)
    {
        _bound.Close();
        _inproc.Close(linger);
    }

    public void CloseSessions(DisconnectReason reason, TimeSpan linger)
    {
        foreach (ZmpDialer dialer in Dialers())
        {
            dialer.Close(reason, TimeSpan.Zero);
        }

        foreach (ZmpSession session in _sessions.Accepted)
        {
            session.Connection.RequestClose(reason, CloseMode.Orderly, linger);
        }
    }

    public void Abort()
    {
        foreach (ZmpDialer dialer in Dialers())
        {
            dialer.Abort();
        }

        foreach (ZmpSession session in _sessions.All)
        {
            session.Connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Leave);
        }
    }

    private bool RemoveDialer(ZmpDialer dialer)
    {
        if (!_dialers.TryGetValue(dialer.Text, out ZmpDialer? there) || !ReferenceEquals(there, dialer))
        {
            return false;
        }

        if (dialer.Alias is { } alias)
        {
            _aliases.Remove(alias);
        }

        return _dialers.RemoveAndTrim(dialer.Text, out _);
    }

    private ZmpDialer[] Dialers()
    {
        lock (_gate)
        {
            return [.. _dialers.Values, .. _lingering.All];
        }
    }

    private EndpointError OnRejected(string text, ZmpSettings settings)
    {
        if (settings.Alias is not null)
        {
            return new EndpointError(EndpointFault.AddressInUse, "the name given to the peer is in use on this socket; choose another");
        }

        // As in the native core the call succeeds and the first endpoint stays in use.
        bool isHere = socket.Type == ZmpSocketType.Pair && (socket.LinkCount > 0 || socket.Receive.IsReadable);
        string why = isHere ? socket.RefusalReason(null)
            : $"{(socket.Type == ZmpSocketType.Router ? "here or there" : "there")}, the socket has no place for this peer: a PAIR has "
                + $"one already, or its routing id is in use";
        Interlocked.Increment(ref socket.Counters.Refused);
        socket.Monitors.Publish(SocketEventTypes.ConnectionRefused, 0, "", text, detail: why);
        socket.Host.Warnings.ConnectionRefused(text, why);
        return EndpointError.None;
    }
}
