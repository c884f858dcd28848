using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class InprocEndpoints(SocketCore socket, InprocRegistry registry)
{
    private readonly Lock _gate = new();
    private readonly HashSet<string> _names = new(StringComparer.Ordinal);
    private readonly ListsByKey<string, InprocLink> _links = new(StringComparer.Ordinal);

    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _names.Count + _links.Count;
            }
        }
    }

    public EndpointStatus[] Bound
    {
        get
        {
            lock (_gate)
            {
                return [.. _names.Select(static name => new EndpointStatus($"{EndpointText.Inproc}://{name}", IsBound: true))];
            }
        }
    }

    public EndpointStatus[] Connected
    {
        get
        {
            lock (_gate)
            {
                return [.. _links.All.Select(static link => new EndpointStatus(link.Endpoint.ToString(), IsBound: false))];
            }
        }
    }

    public EndpointError Bind(string name, ZmpSettings settings)
    {
        if (!registry.TryBind(name, socket, settings))
        {
            return new EndpointError(EndpointFault.AddressInUse,
                $"another socket of this context has bound {EndpointError.Quote(name)}; unbind it there or choose another name");
        }

        lock (_gate)
        {
            _names.Add(name);
            if (!socket.IsClosed)
            {
                return EndpointError.None;
            }
        }

        registry.Unbind(name, socket);

        return EndpointError.None;
    }

    public EndpointError? Connect(string name, string text, ZmpSettings settings)
    {
        InprocLink? link = registry.Connect(name, text, socket, settings, out bool mismatch);
        if (mismatch)
        {
            return new EndpointError(EndpointFault.Incompatible,
                $"the socket that has bound {EndpointError.Quote(name)} is of a type that is not compatible with {socket.Type.Name}");
        }

        if (link is null)
        {
            return null;
        }

        lock (_gate)
        {
            _links.Add(text, link);
        }

        if (!socket.Has(link))
        {
            Forget(link);
        }

        return EndpointError.None;
    }

    /// <summary>Unread messages are dropped; unsent ones are delivered within <paramref name="linger"/>.</summary>
    public bool Remove(string text, TimeSpan linger)
    {
        InprocLink[] links;
        lock (_gate)
        {
            links = _links.RemoveAll(text);
        }

        foreach (InprocLink link in links)
        {
            registry.Leave(link, linger);
            socket.Detach(link, dropUnread: true);
            link.Close(DisconnectReason.Local, linger);
        }

        return Unbind(text) || links.Length > 0;
    }

    public void Forget(InprocLink link)
    {
        lock (_gate)
        {
            _links.Remove(link.Endpoint.ToString(), link);
        }
    }

    public void Close(TimeSpan linger)
    {
        string[] names;
        lock (_gate)
        {
            names = [.. _names];
            _names.Clear();
        }

        foreach (string name in names)
        {
            registry.Unbind(name, socket);
        }

        foreach (PeerLink link in socket.Links)
        {
            if (link is InprocLink waiting)
            {
                registry.Leave(waiting, linger);
            }
        }
    }

    public bool Unbind(string text)
    {
        if (!TransportTable.TrySplit(text, out EndpointText parts, out _) || parts.Transport.Scheme is not EndpointText.Inproc)
        {
            return false;
        }

        lock (_gate)
        {
            // Before the name is free: otherwise this could remove another thread's new bind, which would then outlive the socket.
            if (!_names.Remove(parts.Remainder))
            {
                return false;
            }
        }

        return registry.Unbind(parts.Remainder, socket);
    }
}
