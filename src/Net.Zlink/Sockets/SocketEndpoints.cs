using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>The endpoints of one ZMP socket: what it has bound, what it connects to, and the connections that came of it.</summary>
internal sealed class SocketEndpoints(SocketCore socket, InprocRegistry inproc)
{
    private readonly Lock _gate = new();
    private readonly List<ZmpListener> _listeners = [];
    private readonly Dictionary<string, ZmpDialer> _dialers = new(StringComparer.Ordinal); // By their text, of which a second connect makes none.
    private readonly HashSet<byte[]> _aliases = new(RoutingIdComparer.Instance); // Theirs.
    private readonly HashSet<ZmpDialer> _lingering = [];
    private readonly ListsByName<InprocPipe> _inprocPipes = new();
    private readonly HashSet<string> _inprocNames = new(StringComparer.Ordinal);
    private readonly HashSet<ZmpSession> _sessions = [];
    private int _places;

    /// <summary>Most connections at once, in both directions; 0: any number.</summary>
    public int MaxConnections { get; set; }

    /// <summary>Connections, also those in a handshake.</summary>
    public int ConnectionCount
    {
        get
        {
            lock (_gate)
            {
                return _sessions.Count;
            }
        }
    }

    /// <summary>All of them.</summary>
    public EndpointStatus[] All
    {
        get
        {
            lock (_gate)
            {
                return
                [
                    .. _listeners.Select(static l => new EndpointStatus(l.Endpoint, IsBound: true, l.Listener.Upgrade?.Staleness)),
                    .. _inprocNames.Select(static name => new EndpointStatus($"{EndpointText.Inproc}://{name}", IsBound: true)),
                    .. _dialers.Keys.Select(static text => new EndpointStatus(text, IsBound: false)),
                    .. _inprocPipes.All.Select(static pipe => new EndpointStatus(pipe.Endpoint, IsBound: false)),
                ];
            }
        }
    }

    /// <summary>Names that it has bound, and pipes that it has connected, of inproc.</summary>
    public int InprocCount
    {
        get
        {
            lock (_gate)
            {
                return _inprocNames.Count + _inprocPipes.Count;
            }
        }
    }

    /// <summary>Gives an accepted connection a place among <see cref="MaxConnections"/>, also while it goes through its transport's own handshake: until <see cref="Track"/> or <see cref="GiveUpPlace"/>.</summary>
    /// <returns>Null, or why it must be turned away.</returns>
    public string? TakePlace()
    {
        if (socket.Host.Budget is { IsFullOfRests: true })
        {
            return "unread messages of peers that have gone take up the context's QueuedByteLimit; receive them, or raise it";
        }

        lock (_gate)
        {
            // Looked at and taken in one step: two listeners may accept at once.
            if (MaxConnections > 0 && _sessions.Count + _places >= MaxConnections)
            {
                return $"the socket has its {MaxConnections} connections; raise MaxConnections to take more";
            }

            _places++;
            return null;
        }
    }

    /// <summary>No session has come of it.</summary>
    public void GiveUpPlace()
    {
        lock (_gate)
        {
            _places--;
        }
    }

    /// <summary>Binds and starts to accept.</summary>
    public EndpointError Bind(string text, ZmpSettings settings, out string endpoint)
    {
        endpoint = text;
        if (!EndpointText.TryParse(text, out EndpointText parts, out EndpointError error))
        {
            return error;
        }

        if (string.Equals(parts.Scheme, EndpointText.Inproc, StringComparison.Ordinal))
        {
            return BindInproc(parts.Rest, settings);
        }

        if (!Transports.Endpoints.TryParseBind(text, out BindTarget target, out error))
        {
            return EndpointEvents.BindFailed(socket.Monitors, text, error);
        }

        BindResult bound = target.Bind(settings.Transport);
        if (bound.Listener is null)
        {
            return EndpointEvents.BindFailed(socket.Monitors, text, bound.Error);
        }

        var listener = new ZmpListener(socket, bound.Listener, text, settings);
        lock (_gate)
        {
            if (socket.IsClosed)
            {
                bound.Listener.Close();
                return EndpointError.None;
            }

            listener.Announce();
            _listeners.Add(listener);
        }

        endpoint = listener.Endpoint;
        listener.Start();
        return EndpointError.None;
    }

    /// <summary>Connects: begins to dial, or joins an inproc binder. A text that is connected already, or that this socket's own bind returned, stays as it is, but for inproc, where each call makes a pipe.</summary>
    /// <param name="text">The endpoint.</param>
    /// <param name="settings">Its options.</param>
    /// <param name="wasThere">It stays as it is.</param>
    public EndpointError Connect(string text, ZmpSettings settings, out bool wasThere)
    {
        wasThere = false;
        if (!EndpointText.TryParse(text, out EndpointText parts, out EndpointError error))
        {
            return error;
        }

        if (string.Equals(parts.Scheme, EndpointText.Inproc, StringComparison.Ordinal))
        {
            return ConnectInproc(parts.Rest, text, settings);
        }

        if (!Transports.Endpoints.TryParseConnect(text, out ConnectTarget target, out error))
        {
            return error;
        }

        ZmpDialer dialer;
        ZmpDialer[] before;
        lock (_gate)
        {
            // As natively what this socket itself has bound is connected already, too: a ROUTER or a PAIR, which have no place for themselves, would come again and again.
            if (_dialers.ContainsKey(text) || _listeners.Exists(l => string.Equals(l.Endpoint, text, StringComparison.Ordinal)))
            {
                wasThere = true;
                return EndpointError.None;
            }

            dialer = new ZmpDialer(socket, target, settings);
            if (dialer.Alias is { } name && !_aliases.Add(name))
            {
                return TurnedAway(text, settings); // Also while that endpoint has no pipe: its next connection gets the name.
            }

            _dialers.Add(text, dialer);
            before = [.. _lingering.Where(d => string.Equals(d.Text, text, StringComparison.Ordinal))];
        }

        // With IMMEDIATE there is no pipe before there is a connection.
        if (settings.Immediate ? settings.Alias is { } wanted && socket.Knows(wanted) : !socket.TryAttach(dialer.Pipe, peer: null))
        {
            dialer.Discard();
            return TurnedAway(text, settings);
        }

        if (!socket.Enter())
        {
            dialer.Drop();
            return EndpointError.None;
        }

        if (!settings.Immediate)
        {
            socket.Greet(dialer.Pipe, GreetingOccasion.NewPipe);
        }

        dialer.Start(before);
        return EndpointError.None;
    }

    /// <summary>Ends every endpoint of that text, bound or connected. What is unread of peers that it connected to is dropped, of those that came in is left; unsent ones are delivered within <paramref name="linger"/>.</summary>
    /// <returns>False if there is none.</returns>
    public bool Remove(string text, TimeSpan linger)
    {
        InprocPipe[] pipes;
        bool parsed = Transports.Endpoints.TryParseBind(text, out BindTarget target, out _);
        ZmpListener[] all;
        ZmpDialer[] dialled;
        lock (_gate)
        {
            all = [.. _listeners];
            dialled = _dialers.TryGetValue(text, out ZmpDialer? exact) ? [exact] : [.. _dialers.Values];
        }

        // Names may have to be looked up: without the lock.
        List<ZmpListener> listeners = [.. all.Where(l => string.Equals(l.Text, text, StringComparison.Ordinal) || (parsed && target.Names(l.Listener)))];
        List<ZmpDialer> dialers = [.. dialled.Where(d => string.Equals(d.Text, text, StringComparison.Ordinal) || (parsed && target.Names(d.Target)))];
        lock (_gate)
        {
            // From now on the text can be connected anew. Another thread may have disconnected it meanwhile.
            dialers.RemoveAll(d => !TakeOut(d));
            _lingering.UnionWith(dialers);
            pipes = _inprocPipes.Of(text);
            listeners.RemoveAll(l => !_listeners.Remove(l)); // Another thread may have unbound it meanwhile.
            Array.ForEach(pipes, p => _inprocPipes.Remove(text, p));
        }

        foreach (ZmpListener listener in listeners)
        {
            listener.Linger = linger;
            listener.Close();
            CloseSessionsOf(listener, linger);
        }

        foreach (ZmpDialer dialer in dialers)
        {
            socket.Detach(dialer.Pipe, dropUnread: true);
            dialer.Close(DisconnectReason.Local, linger);
        }

        foreach (InprocPipe pipe in pipes)
        {
            End(pipe, linger);
        }

        return UnbindInproc(text) || listeners.Count + dialers.Count + pipes.Length > 0;
    }

    /// <summary>The session has its connection. An accepted one sits down in the place that was taken for it.</summary>
    public void Track(ZmpSession session)
    {
        lock (_gate)
        {
            _sessions.Add(session);
            if (session.Listener is not null)
            {
                _places--;
            }
        }

        if (session.Listener is { IsClosed: true })
        {
            // The listener closed between the two steps and may not have seen the connection.
            session.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly, session.Listener.Linger);
        }
    }

    public void Forget(ZmpSession session)
    {
        lock (_gate)
        {
            _sessions.Remove(session);
        }
    }

    public void Forget(InprocPipe pipe)
    {
        lock (_gate)
        {
            _inprocPipes.Remove(pipe.Endpoint, pipe);
        }
    }

    public void Forget(ZmpListener listener)
    {
        lock (_gate)
        {
            _listeners.Remove(listener);
        }
    }

    public void Forget(ZmpDialer dialer)
    {
        lock (_gate)
        {
            TakeOut(dialer);
            if (dialer.Over.IsCompleted)
            {
                _lingering.Remove(dialer); // Else a connect of the same endpoint still waits for it.
            }
        }
    }

    /// <summary>Stops accepting and frees names. What waits for a binder of inproc goes on waiting for at most <paramref name="linger"/>.</summary>
    public void Close(TimeSpan linger)
    {
        ZmpListener[] listeners;
        string[] names;
        lock (_gate)
        {
            listeners = [.. _listeners];
            _listeners.Clear();
            names = [.. _inprocNames];
            _inprocNames.Clear();
        }

        foreach (ZmpListener listener in listeners)
        {
            listener.Close();
        }

        foreach (string name in names)
        {
            inproc.Unbind(name, socket);
        }

        foreach (Pipe pipe in socket.Pipes)
        {
            if (pipe is InprocPipe waiting)
            {
                inproc.Leave(waiting, linger);
            }
        }
    }

    /// <summary>Ends dialers and connections that have no pipe in the socket any more, or never had one.</summary>
    public void CloseSessions(DisconnectReason reason, TimeSpan linger)
    {
        (ZmpSession[] sessions, ZmpDialer[] dialers) = Snapshot();
        foreach (ZmpDialer dialer in dialers)
        {
            dialer.Close(reason, TimeSpan.Zero); // A second call: only those are meant whose pipe was not in the socket.
        }

        foreach (ZmpSession session in sessions)
        {
            if (session.Listener is not null)
            {
                session.Connection.RequestClose(reason, CloseMode.Orderly, linger);
            }
        }
    }

    public void Abort()
    {
        (ZmpSession[] sessions, ZmpDialer[] dialers) = Snapshot();
        foreach (ZmpDialer dialer in dialers)
        {
            dialer.Abort();
        }

        foreach (ZmpSession session in sessions)
        {
            session.Connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Leave);
        }
    }

    /// <summary>Its text and its alias can be connected anew. Under the lock. False if another thread was first.</summary>
    private bool TakeOut(ZmpDialer dialer)
    {
        if (!_dialers.TryGetValue(dialer.Text, out ZmpDialer? there) || !ReferenceEquals(there, dialer))
        {
            return false;
        }

        if (dialer.Alias is { } alias)
        {
            _aliases.Remove(alias);
        }

        return _dialers.Remove(dialer.Text);
    }

    private (ZmpSession[] Sessions, ZmpDialer[] Dialers) Snapshot()
    {
        lock (_gate)
        {
            return ([.. _sessions], [.. _dialers.Values, .. _lingering]);
        }
    }

    private EndpointError BindInproc(string name, ZmpSettings settings)
    {
        if (!inproc.TryBind(name, socket, settings))
        {
            return new EndpointError(EndpointFault.AddressInUse, $"another socket of this context has bound {EndpointError.Quote(name)}; unbind it there or choose another name");
        }

        lock (_gate)
        {
            _inprocNames.Add(name);
            if (!socket.IsClosed)
            {
                return EndpointError.None;
            }
        }

        inproc.Unbind(name, socket); // Close may have looked before the name was in its list.

        return EndpointError.None;
    }

    private bool UnbindInproc(string text)
    {
        if (!EndpointText.TryParse(text, out EndpointText parts, out _) || !string.Equals(parts.Scheme, EndpointText.Inproc, StringComparison.Ordinal) || !inproc.Unbind(parts.Rest, socket))
        {
            return false;
        }

        lock (_gate)
        {
            _inprocNames.Remove(parts.Rest);
        }

        return true;
    }

    private EndpointError ConnectInproc(string name, string text, ZmpSettings settings)
    {
        InprocPipe? pipe = inproc.Connect(name, text, socket, settings, out bool mismatch);
        if (mismatch)
        {
            return new EndpointError(EndpointFault.Incompatible, $"the socket that has bound {EndpointError.Quote(name)} is of a type that {socket.Type.Name} does not talk to");
        }

        if (pipe is null)
        {
            return TurnedAway(text, settings);
        }

        lock (_gate)
        {
            _inprocPipes.Add(text, pipe);
        }

        if (!socket.Has(pipe))
        {
            Forget(pipe); // The binder has gone again already.
        }

        return EndpointError.None;
    }

    private EndpointError TurnedAway(string text, ZmpSettings settings)
    {
        if (settings.Alias is not null)
        {
            return new EndpointError(EndpointFault.AddressInUse, "the name given to the peer is in use on this socket; choose another");
        }

        // As in the native core the call succeeds and the first endpoint goes on being used; here at least somebody hears of it.
        bool isHere = socket.Type == ZmpSocketType.Pair && (socket.Pipes.Length > 0 || socket.Receive.IsReadable);
        string why = isHere ? socket.WhyNoPlace(null)
            : $"{(socket.Type == ZmpSocketType.Router ? "here or there" : "there")}, the socket has no place for this peer: a PAIR has one already, or its routing id is in use";
        Interlocked.Increment(ref socket.Books.Refused);
        socket.Monitors.Publish(SocketEventTypes.ConnectionRefused, 0, "", text, detail: why);
        socket.Host.Warnings.ConnectionRefused(text, why);
        return EndpointError.None;
    }

    private void End(InprocPipe pipe, TimeSpan linger)
    {
        inproc.Leave(pipe, linger);
        socket.Detach(pipe, dropUnread: true);
        pipe.Close(DisconnectReason.Local, linger);
    }

    private void CloseSessionsOf(ZmpListener listener, TimeSpan linger)
    {
        foreach (ZmpSession session in Snapshot().Sessions)
        {
            if (ReferenceEquals(session.Listener, listener))
            {
                socket.Detach(session.Pipe, dropUnread: false); // As natively: who stops listening has not stopped reading.
                session.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly, linger);
            }
        }
    }
}
