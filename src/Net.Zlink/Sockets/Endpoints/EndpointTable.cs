using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary>What a socket has bound and connected. Each is found by its text without a search, so thousands can be ended one by
/// one.</summary>
internal sealed class EndpointTable(EngineHost host, SocketMonitors monitors, EventCounters counters, CloseTracker parts)
{
    private readonly Lock _gate = new();
    private readonly ListsByKey<string, BoundListener> _byText = new();
    private readonly ListsByKey<string, BoundListener> _byEndpoint = new();
    private readonly ListsByKey<string, DialerLoop> _dialers = new();
    private readonly ListsByKey<string, DialerLoop> _leaving = new();
    private readonly HashSet<RoutingId> _names = [];

    public EngineHost Host => host;

    public SocketMonitors Monitors => monitors;

    public EventCounters Counters => counters;

    public CloseTracker Parts => parts;

    public EndpointStatus[] Bound
    {
        get
        {
            lock (_gate)
            {
                return [.. _byEndpoint.All.Select(static l => new EndpointStatus(l.Bound, IsBound: true, l.Transport.Upgrade?.Staleness))];
            }
        }
    }

    public DialerLoop[] Dialers
    {
        get
        {
            lock (_gate)
            {
                return [.. _dialers.All];
            }
        }
    }

    /// <summary>Nothing is bound if the socket was closed meanwhile.</summary>
    public EndpointError Bind(WireEndpoint target, TransportSettings settings, IAcceptor acceptor, out string endpoint)
    {
        endpoint = target.Text;
        BindResult bound = target.Listen(settings);
        if (bound.Listener is null)
        {
            return EndpointEvents.BindFailed(monitors, target.Text, bound.Error);
        }

        var listener = new BoundListener(this, bound.Listener, target.Text, acceptor);
        lock (_gate)
        {
            if (parts.IsClosed)
            {
                bound.Listener.Dispose();
                return EndpointError.None;
            }

            listener.Announce();
            _byText.Add(listener.Text, listener);
            _byEndpoint.Add(listener.Bound, listener);
        }

        endpoint = listener.Bound;
        listener.Start();
        return EndpointError.None;
    }

    /// <summary>False: there is none. May look up a name.</summary>
    public bool Unbind(string text, TimeSpan? linger = null, bool keepsPeers = false)
    {
        bool isParsed = TransportTable.TryParseWire(text, EndpointUse.Bind, out WireEndpoint target, out _);
        List<BoundListener> found = Remove(text, isParsed ? target : null);
        found.ForEach(listener => listener.Unbind(linger, keepsPeers));
        return found.Count > 0;
    }

    /// <summary>
    /// Accepts the one connection of a listener that has no address: the result's Unbind ends it. A socket that is closed refuses it.
    /// </summary>
    public BoundListener Accept(ITransportListener transport, IAcceptor acceptor)
    {
        var listener = new BoundListener(this, transport, transport.Endpoint, acceptor);
        listener.Start();
        return listener;
    }

    /// <summary>
    /// Removes the listeners that a text means, for the caller to close. May look up a name of <paramref name="target"/>: call it without a
    /// lock.
    /// </summary>
    public List<BoundListener> Remove(string text, WireEndpoint? target)
    {
        BoundListener[] named;
        BoundListener[] others;
        lock (_gate)
        {
            named = _byEndpoint.Of(text);
            others = named.Length > 0 || target is null ? [] : [.. _byEndpoint.All];
            named = [.. _byText.Of(text).Union(named)];
        }

        List<BoundListener> meant = [.. named.Union(others.Where(one => target!.Names(one.Transport)))];
        lock (_gate)
        {
            meant.RemoveAll(one => !RemoveUnderLock(one));
        }

        return meant;
    }

    /// <summary>
    /// It is connected. As in the native core, this socket's own bound endpoint counts, too: a ROUTER or PAIR would reject itself again and
    /// again.
    /// </summary>
    public bool Has(string endpoint)
    {
        lock (_gate)
        {
            return HasUnderLock(endpoint);
        }
    }

    /// <summary>False: the text is connected already, or the name is in use.</summary>
    /// <param name="dialer">Not started yet.</param>
    /// <param name="isOnly">No text is connected twice, and one that is connected again begins when the one before has delivered.</param>
    public bool TryAdd(DialerLoop dialer, bool isOnly)
    {
        lock (_gate)
        {
            if ((isOnly && HasUnderLock(dialer.Text))
                || (!dialer.Name.IsEmpty && !_names.Add(dialer.Name)))
            {
                return false;
            }

            dialer.Follow(isOnly ? _leaving.LastOf(dialer.Text) : null);
            return _dialers.Add(dialer.Text, dialer);
        }
    }

    /// <summary>False: there is none. May look up a name.</summary>
    public bool Disconnect(string text, TimeSpan? linger = null)
    {
        bool isParsed = TransportTable.TryParseWire(text, EndpointUse.Bind, out WireEndpoint target, out _);
        DialerLoop[] named;
        DialerLoop[] others;
        lock (_gate)
        {
            named = _dialers.Of(text);
            others = named.Length > 0 || !isParsed ? [] : [.. _dialers.All];
        }

        List<DialerLoop> meant = [.. named, .. others.Where(one => target.Names(one.Target))];
        lock (_gate)
        {
            // From now on the text can be connected again.
            meant.RemoveAll(one => !RemoveUnderLock(one));
            meant.ForEach(one => _leaving.Add(one.Text, one));
        }

        meant.ForEach(one => one.Close(DisconnectReason.Local, linger));
        return meant.Count > 0;
    }

    public void Forget(BoundListener listener)
    {
        lock (_gate)
        {
            RemoveUnderLock(listener);
        }
    }

    public void Forget(DialerLoop dialer)
    {
        lock (_gate)
        {
            RemoveUnderLock(dialer);
            if (dialer.IsOver)
            {
                _leaving.Remove(dialer.Text, dialer);
            }
        }
    }

    /// <summary>After the socket was closed, so none comes any more.</summary>
    public void CloseListeners()
    {
        BoundListener[] all;
        lock (_gate)
        {
            all = [.. _byEndpoint.All];
            Array.ForEach(all, one => RemoveUnderLock(one));
        }

        Array.ForEach(all, static one => one.Close());
    }

    public void CloseDialers(DisconnectReason reason, TimeSpan? linger) => Array.ForEach(Dialers, one => one.Close(reason, linger));

    public void AbortDialers()
    {
        DialerLoop[] all;
        lock (_gate)
        {
            all = [.. _dialers.All, .. _leaving.All];
        }

        Array.ForEach(all, static one => one.Abort());
    }

    private bool HasUnderLock(string endpoint) => _dialers.Has(endpoint) || _byEndpoint.Has(endpoint);

    private bool RemoveUnderLock(BoundListener listener)
    {
        _byText.Remove(listener.Text, listener);
        return _byEndpoint.Remove(listener.Bound, listener);
    }

    private bool RemoveUnderLock(DialerLoop dialer)
    {
        bool wasThere = _dialers.Remove(dialer.Text, dialer);
        if (wasThere)
        {
            _names.Remove(dialer.Name);
        }

        return wasThere;
    }
}

internal readonly record struct EndpointStatus(string Text, bool IsBound, string? Problem = null)
{
    public static IReadOnlyList<string> TextsOf(EndpointStatus[] all, bool areBound) =>
        [.. all.Where(one => one.IsBound == areBound).Select(static one => one.Text)];

    public static IReadOnlyList<string> RedactedTextsOf(EndpointStatus[] all, bool areBound) =>
        [.. TextsOf(all, areBound).Select(static text => new RedactedEndpoint(text).ToString())];
}
