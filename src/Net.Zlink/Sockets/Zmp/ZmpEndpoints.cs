using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>What a ZMP socket binds and connects.</summary>
internal sealed class ZmpEndpoints(SocketCore socket, InprocRegistry inproc)
{
    public SocketCore Socket => socket;

    public EndpointStatus[] All =>
    [
        .. socket.Table.Bound,
        .. inproc.NamesOf(socket).Select(static name => new EndpointStatus($"{EndpointText.Inproc}://{name}", IsBound: true)),
        .. socket.Table.Dialers.Select(static dialer => new EndpointStatus(dialer.Text, IsBound: false)),
        .. socket.Links.Where(static link => link is { IsInproc: true, IsActive: true })
            .Select(static link => new EndpointStatus(link.Endpoint.ToString(), IsBound: false)),
    ];

    /// <summary>Those without an attached link: with IMMEDIATE, without a connection.</summary>
    public IEnumerable<ZmpConnecter> WithoutLink =>
        socket.Table.Dialers.Select(static dialer => (ZmpConnecter)dialer.Connecter).Where(one => !socket.Has(one.Link));

    public EndpointError Bind(string text, ZmpSettings settings, out string endpoint)
    {
        endpoint = text;
        if (!TransportTable.TryParse(text, EndpointUse.Bind, out TransportEndpoint parsed, out EndpointError error))
        {
            return EndpointEvents.BindFailed(socket.Monitors, text, error);
        }

        return parsed is WireEndpoint target
            ? socket.Table.Bind(target, settings.Transport, new ZmpAcceptor(socket, settings), out endpoint)
            : inproc.Bind(parsed.Path, socket, settings);
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
            return inproc.Connect(parsed.Path, text, socket, settings) ?? OnRejected(text, settings);
        }

        wasThere = socket.Table.Has(text);
        if (wasThere || !socket.Parts.TryEnter())
        {
            return EndpointError.None;
        }

        var connecter = new ZmpConnecter(socket, target, settings);
        DialerLoop dialer = connecter.Dialer;
        bool isIn = socket.Table.TryAdd(dialer, isOnly: true) && (settings.Immediate
            ? settings.Alias is not { } wanted || !socket.Knows(wanted)
            : socket.TryAttach(connecter.Link, peer: null));
        if (!isIn || socket.IsClosed)
        {
            dialer.Abort();
            wasThere = socket.Table.Has(text); // Another thread has connected it just now.
            return wasThere || socket.IsClosed ? EndpointError.None : OnRejected(text, settings);
        }

        if (!settings.Immediate)
        {
            socket.SendWelcome(connecter.Link, GreetingOccasion.NewLink);
        }

        socket.GivenUp.Forget(text);
        dialer.Start();
        return EndpointError.None;
    }

    /// <summary>Unread messages of connected peers are dropped, those of accepted peers stay.</summary>
    public bool Remove(string text, TimeSpan linger) => socket.Table.Unbind(text, linger)
        | socket.Table.Disconnect(text, linger) | inproc.Disconnect(text, socket, linger) | inproc.Unbind(text, socket);

    public bool StopListening(string text) =>
        socket.Table.Unbind(text, keepsPeers: true) | inproc.Unbind(text, socket);

    /// <inheritdoc cref="SocketCore.Close"/>
    public void Close(TimeSpan linger, SocketEnd end)
    {
        if (socket.TryClose(end))
        {
            inproc.UnbindAll(socket);
            socket.Close(linger);
        }
    }

    private EndpointError OnRejected(string text, ZmpSettings settings)
    {
        if (settings.Alias is not null)
        {
            return new EndpointError(ZlinkError.AddressInUse, "the name given to the peer is in use on this socket; choose another");
        }

        // As in the native core the call succeeds and the first endpoint stays in use.
        bool isHere = socket.Type == ZmpSocketType.Pair && (socket.PeerCount > 0 || socket.Receive.IsReadable);
        string why = isHere ? socket.RefusalReason(null)
            : $"{(socket.Type == ZmpSocketType.Router ? "here or there" : "there")}, the socket has no place for this peer: a PAIR has "
                + $"one already, or its routing id is in use";
        Interlocked.Increment(ref socket.Counters.Refused);
        socket.Monitors.Publish(SocketEventTypes.ConnectionRefused, 0, "", text, detail: why);
        socket.Host.Warnings.ConnectionRefused(text, why);
        return EndpointError.None;
    }
}

internal sealed class ZmpAcceptor(SocketCore socket, ZmpSettings settings) : IAcceptor
{
    public string? AcquireConnection() => socket.Connections.AcquireConnection();

    public void ReleaseConnection() => socket.Connections.ReleaseConnection();

    public void Begin(Wire wire, BoundListener listener)
    {
        var link = new WireLink(socket, settings) { Endpoint = listener.Endpoint, IsActive = false, Listener = listener };
        new ZmpSession(socket, settings, link, wire).Start();
    }

    public void CloseConnections(BoundListener listener)
    {
        foreach (WireLink link in socket.Connections.Of(listener))
        {
            link.Lane.Close();
            socket.Detach(link, dropUnread: false);
            link.Accepted?.RequestClose(DisconnectReason.Local, CloseMode.Orderly, listener.Linger);
        }
    }
}
