using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary>What a socket has bound. A listener is found by its text without a search, so thousands can be unbound one by one.</summary>
internal sealed class EndpointTable(EngineHost host, SocketMonitors monitors, ConnectionCounters counters, CloseTracker parts)
{
    private readonly Lock _gate = new();
    private readonly HashSet<BoundListener> _all = [];
    private readonly ListsByKey<string, BoundListener> _byText = new(StringComparer.Ordinal);
    private readonly ListsByKey<string, BoundListener> _byEndpoint = new(StringComparer.Ordinal);

    public EngineHost Host => host;

    public SocketMonitors Monitors => monitors;

    public ConnectionCounters Counters => counters;

    public CloseTracker Parts => parts;

    public EndpointStatus[] Bound
    {
        get
        {
            lock (_gate)
            {
                return [.. _all.Select(static l => new EndpointStatus(l.Bound, IsBound: true, l.Transport.Upgrade?.Staleness))];
            }
        }
    }

    public bool Has(string endpoint)
    {
        lock (_gate)
        {
            return _byEndpoint.Has(endpoint);
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
                bound.Listener.Close();
                return EndpointError.None;
            }

            listener.Announce();
            _all.Add(listener);
            _byText.Add(listener.Text, listener);
            _byEndpoint.Add(listener.Bound, listener);
        }

        endpoint = listener.Bound;
        listener.Start();
        return EndpointError.None;
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
            others = named.Length > 0 || target is null ? [] : [.. _all];
            named = [.. _byText.Of(text).Union(named)];
        }

        List<BoundListener> meant = [.. named.Union(others.Where(one => target!.Names(one.Transport)))];
        lock (_gate)
        {
            meant.RemoveAll(one => !RemoveUnderLock(one));
        }

        return meant;
    }

    public void Forget(BoundListener listener)
    {
        lock (_gate)
        {
            RemoveUnderLock(listener);
        }
    }

    /// <summary>After the socket was closed, so none comes any more.</summary>
    public void Close()
    {
        BoundListener[] all;
        lock (_gate)
        {
            all = [.. _all];
            Array.ForEach(all, one => RemoveUnderLock(one));
        }

        Array.ForEach(all, static one => one.Close());
    }

    private bool RemoveUnderLock(BoundListener listener)
    {
        if (!_all.RemoveAndTrim(listener))
        {
            return false;
        }

        _byText.Remove(listener.Text, listener);
        _byEndpoint.Remove(listener.Bound, listener);
        return true;
    }
}
