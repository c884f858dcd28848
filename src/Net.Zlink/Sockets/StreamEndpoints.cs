using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class StreamEndpoints(StreamHub hub)
{
    private readonly Lock _gate = new();
    private readonly BoundListeners<StreamListener> _listeners = new();
    private readonly ListsByKey<string, StreamDialer> _dialers = new(StringComparer.Ordinal);
    private bool _isClosed;

    public EndpointStatus[] All
    {
        get
        {
            lock (_gate)
            {
                return [.. _listeners.All.Select(static l => new EndpointStatus(l.Bound, IsBound: true, l.Staleness)),
                    .. _dialers.All.Select(static d => new EndpointStatus(d.Text, IsBound: false, d.WhyNotConnected))];
            }
        }
    }

    public EndpointError Bind(string text, StreamSettings settings, IPeerFactory factory, out string endpoint)
    {
        endpoint = "";
        if (!TransportTable.TryParseWire(text, EndpointUse.Bind, out WireEndpoint target, out EndpointError error))
        {
            return EndpointEvents.BindFailed(hub.Monitors, text, error);
        }

        (ITransportListener? bound, error) = target.Listen(settings.Transport);
        if (bound is null)
        {
            return EndpointEvents.BindFailed(hub.Monitors, text, error);
        }

        var listener = new StreamListener(hub, bound, settings, factory);
        lock (_gate)
        {
            if (_isClosed)
            {
                bound.Close();
                return error;
            }

            listener.Announce();
            _listeners.Add(listener, text, bound);
        }

        endpoint = listener.Bound;
        listener.Start();
        return EndpointError.None;
    }

    public bool Unbind(WireEndpoint target, bool keepsPeers)
    {
        BoundListeners<StreamListener>.Candidates candidates;
        lock (_gate)
        {
            candidates = _listeners.Find(target.Text, target);
        }

        List<StreamListener> found = candidates.Meant();
        lock (_gate)
        {
            found.RemoveAll(l => !_listeners.Remove(l));
        }

        foreach (StreamListener listener in found)
        {
            listener.Close(keepsPeers);
            foreach (StreamLink link in keepsPeers ? [] : hub.Links.Of(listener))
            {
                link.RetainsUnread = true; // As in the native core: unbinding leaves unread messages readable.
                link.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
            }
        }

        return found.Count > 0;
    }

    public bool Disconnect(string text)
    {
        StreamDialer[] found;
        lock (_gate)
        {
            found = _dialers.RemoveAll(text);
        }

        foreach (StreamDialer dialer in found)
        {
            dialer.Close();
            Interlocked.MemoryBarrier(); // Before the search for their connections: see StreamHub.Announce.
            foreach (StreamLink link in hub.Links.Of(dialer))
            {
                if (!hub.Disconnect(link.Id, CloseMode.Orderly))
                {
                    link.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
                }
            }
        }

        return found.Length > 0;
    }

    public void Forget(StreamListener listener)
    {
        lock (_gate)
        {
            _listeners.Remove(listener);
        }
    }

    public bool TryAdd(StreamDialer dialer)
    {
        lock (_gate)
        {
            return !_isClosed && _dialers.Add(dialer.Text, dialer);
        }
    }

    public void Forget(StreamDialer dialer)
    {
        lock (_gate)
        {
            _dialers.Remove(dialer.Text, dialer);
        }
    }

    public void Close()
    {
        StreamListener[] listeners;
        StreamDialer[] dialers;
        lock (_gate)
        {
            _isClosed = true;
            listeners = _listeners.RemoveAll();
            dialers = _dialers.RemoveAll();
        }

        foreach (StreamDialer dialer in dialers)
        {
            dialer.Close();
        }

        foreach (StreamListener listener in listeners)
        {
            listener.Close();
        }
    }
}
