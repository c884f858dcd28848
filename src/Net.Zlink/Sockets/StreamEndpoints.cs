using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class StreamEndpoints(StreamHub hub)
{
    private readonly Lock _gate = new();
    private readonly EndpointTable _bound = new(hub.Host, hub.Monitors, hub.Counters, hub.Parts);
    private readonly ListsByKey<string, StreamDialer> _dialers = new(StringComparer.Ordinal);

    public EndpointStatus[] All
    {
        get
        {
            lock (_gate)
            {
                return [.. _bound.Bound, .. _dialers.All.Select(static d => new EndpointStatus(d.Text, IsBound: false, d.WhyNotConnected))];
            }
        }
    }

    public EndpointError Bind(string text, StreamSettings settings, IPeerFactory factory, out string endpoint)
    {
        endpoint = "";
        return TransportTable.TryParseWire(text, EndpointUse.Bind, out WireEndpoint target, out EndpointError error)
            ? _bound.Bind(target, settings.Transport, new StreamAcceptor(hub, settings, factory), out endpoint)
            : EndpointEvents.BindFailed(hub.Monitors, text, error);
    }

    public bool Unbind(WireEndpoint target, bool keepsPeers)
    {
        List<BoundListener> found = _bound.Remove(target.Text, target);
        foreach (BoundListener listener in found)
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

    public bool TryAdd(StreamDialer dialer)
    {
        lock (_gate)
        {
            return !hub.IsClosed && _dialers.Add(dialer.Text, dialer);
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
        StreamDialer[] dialers;
        lock (_gate)
        {
            dialers = _dialers.RemoveAll();
        }

        Array.ForEach(dialers, static dialer => dialer.Close());
        _bound.Close();
    }
}
