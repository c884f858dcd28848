using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class SocketEndpoints(SocketCore socket, InprocRegistry inproc)
{
    private readonly InprocEndpoints _inproc = new(socket, inproc);

    public SocketSessions Sessions { get; } = new(socket.Host.Budget);

    public EndpointTable Table { get; } = new(socket.Host, socket.Monitors, socket.Counters, socket.Parts);

    public EndpointStatus[] All => [.. Table.Bound, .. _inproc.Bound,
        .. Table.Dialers.Select(static dialer => new EndpointStatus(dialer.Text, IsBound: false)), .. _inproc.Connected];

    /// <summary>Without an attached link: with IMMEDIATE, without a connection.</summary>
    public ZmpConnecter[] WithoutLink =>
        [.. Table.Dialers.Select(static dialer => dialer.Connecter).OfType<ZmpConnecter>().Where(one => !socket.Has(one.Link))];

    public int InprocCount => _inproc.Count;

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

        return Table.Bind(target, settings.Transport, new ZmpAcceptor(socket, settings), out endpoint);
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

        wasThere = Table.Has(text);
        if (wasThere || !socket.Parts.TryEnter())
        {
            return EndpointError.None;
        }

        var connecter = new ZmpConnecter(socket, target, settings);
        DialerLoop dialer = connecter.Dialer;
        bool isIn = Table.TryAdd(dialer, isOnly: true) && (settings.Immediate
            ? settings.Alias is not { } wanted || !socket.Knows(wanted)
            : socket.TryAttach(connecter.Link, peer: null));
        if (!isIn || socket.IsClosed)
        {
            dialer.Abort();
            wasThere = Table.Has(text); // Another thread has connected it just now.
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
    public bool Remove(string text, TimeSpan linger) =>
        Table.Unbind(text, linger) | Table.Disconnect(text, linger) | _inproc.Remove(text, linger);

    public bool StopListening(string text) => Table.Unbind(text, keepsPeers: true) | _inproc.Unbind(text);

    public void Forget(InprocLink link) => _inproc.Forget(link);

    public void Close(TimeSpan linger)
    {
        Table.CloseListeners();
        _inproc.Close(linger);
    }

    public void CloseSessions(DisconnectReason reason, TimeSpan linger)
    {
        Table.CloseDialers(reason, TimeSpan.Zero);
        foreach (ZmpSession session in Sessions.Accepted)
        {
            session.Connection.RequestClose(reason, CloseMode.Orderly, linger);
        }
    }

    public void Abort()
    {
        Table.AbortDialers();
        foreach (ZmpSession session in Sessions.All)
        {
            session.Connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Leave);
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
