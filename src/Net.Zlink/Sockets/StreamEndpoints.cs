using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>The endpoints of one STREAM socket: listeners and dialers.</summary>
/// <remarks>Thread-safe. Each is found by its text, so thousands can be ended one by one without a search.</remarks>
internal sealed class StreamEndpoints(StreamHub hub)
{
    private readonly Lock _gate = new();
    private readonly BoundListeners<StreamListener> _listeners = new();
    // Dialers that are connected or connecting, by text.
    private readonly ListsByKey<string, StreamDialer> _dialers = new(StringComparer.Ordinal);
    private bool _isClosed;

    public EndpointStatus[] All
    {
        get
        {
            lock (_gate)
            {
                return [.. _listeners.All.Select(static l => new EndpointStatus(l.Endpoint, IsBound: true, l.Staleness)),
                    .. _dialers.All.Select(static d => new EndpointStatus(d.Text, IsBound: false, d.WhyNotConnected))];
            }
        }
    }

    public EndpointError Bind(string text, StreamSettings settings, IPeerFactory factory, out string endpoint)
    {
        endpoint = "";
        if (!Endpoints.TryParseBind(text, out BindTarget target, out EndpointError error))
        {
            return EndpointEvents.BindFailed(hub.Monitors, text, error);
        }

        (ITransportListener? bound, error) = target.Bind(settings.Transport);
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

        endpoint = listener.Endpoint;
        listener.Start();
        return EndpointError.None;
    }

    /// <summary>Closes every listener of that text (as given or resolved) and the peers that it accepted.</summary>
    /// <param name="target">The parsed text.</param>
    /// <param name="keepsPeers">The accepted peers stay.</param>
    /// <returns>False if there is none.</returns>
    public bool Unbind(BindTarget target, bool keepsPeers)
    {
        BoundListeners<StreamListener>.Candidates candidates;
        lock (_gate)
        {
            candidates = _listeners.Find(target.Text, target);
        }

        List<StreamListener> found = candidates.Meant(); // A name may need a lookup, so without the lock.
        lock (_gate)
        {
            found.RemoveAll(l => !_listeners.Remove(l)); // Another thread was first.
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

    /// <summary>Ends every dialer of that text and its peers.</summary>
    /// <returns>False if there is none.</returns>
    public bool Disconnect(string text)
    {
        StreamDialer[] found;
        lock (_gate)
        {
            found = _dialers.RemoveAll(text); // From here on another thread does not find them.
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

    /// <summary>False if the socket is closed.</summary>
    public bool TryAdd(StreamDialer dialer)
    {
        lock (_gate)
        {
            return !_isClosed && _dialers.Add(dialer.Text, dialer);
        }
    }

    /// <summary>The dialer has no connection and makes none.</summary>
    public void Forget(StreamDialer dialer)
    {
        lock (_gate)
        {
            _dialers.Remove(dialer.Text, dialer);
        }
    }

    /// <summary>Refuses new endpoints and closes the present ones. The caller ends their connections.</summary>
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
