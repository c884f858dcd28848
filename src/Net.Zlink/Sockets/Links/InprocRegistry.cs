using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// The names that sockets of a context have bound, and the links to them. The registry's lock is taken before those of sockets and held
/// while two ends are joined: a connect sees a complete bind or none.
/// </summary>
internal sealed class InprocRegistry
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Binding> _bound = new(StringComparer.Ordinal);
    private readonly ListsByKey<SocketCore, string> _names = new();
    private readonly ListsByKey<(SocketCore Socket, string Endpoint), InprocLink> _links = new();
    private readonly ListsByKey<string, Pending> _pending = new();
    private bool _isClosed;

    public string[] NamesOf(SocketCore socket)
    {
        lock (_gate)
        {
            return _names.Of(socket);
        }
    }

    /// <summary>Nothing is bound if the socket is closed.</summary>
    public EndpointError Bind(string name, SocketCore socket, ZmpSettings settings)
    {
        List<(SocketCore Socket, RedactedEndpoint Endpoint, string Why)>? mismatches = null;
        lock (_gate)
        {
            var binding = new Binding(socket, settings);
            if (!_bound.TryAdd(name, binding))
            {
                return new EndpointError(ZlinkError.AddressInUse,
                    $"another socket of this context has bound {EndpointError.Quote(name)}; unbind it there or choose another name");
            }

            _names.Add(socket, name);
            if (socket.IsClosed)
            {
                Remove(name, socket);
                return EndpointError.None;
            }

            foreach (Pending pending in _pending.Of(name))
            {
                if (CanJoin(pending.Link.Socket, socket))
                {
                    Remove(pending);
                    Join(pending.Link, pending.Settings, binding, waited: true);
                    if (pending.Lingers)
                    {
                        End(pending);
                    }
                }
                else
                {
                    (string here, string there) = (socket.Type.Name, pending.Link.Socket.Type.Name);
                    pending.Link.Problem =
                        $"a {here} is bound to the name, which is not compatible with a {there}; this endpoint waits for another socket";
                    (mismatches ??= []).Add((pending.Link.Socket, pending.Link.Endpoint, pending.Link.Problem));
                    mismatches.Add((socket, pending.Link.Endpoint,
                        $"a {there} has connected to this name, which is not compatible with a {here}"));
                }
            }
        }

        foreach ((SocketCore one, RedactedEndpoint endpoint, string why) in mismatches ?? [])
        {
            NotifyRefused(one, endpoint, why);
            one.Host.Warnings.ConnectionRefused(endpoint, why);
        }

        return EndpointError.None;
    }

    public bool Unbind(string text, SocketCore socket)
    {
        if (!TransportTable.TrySplit(text, out EndpointText parts, out _) || parts.Transport.Scheme is not EndpointText.Inproc)
        {
            return false;
        }

        lock (_gate)
        {
            return Remove(parts.Remainder, socket);
        }
    }

    public void UnbindAll(SocketCore socket)
    {
        lock (_gate)
        {
            Array.ForEach(_names.Of(socket), name => Remove(name, socket));
        }
    }

    /// <summary>Null: the socket, or the one that has bound the name, has no place for a peer.</summary>
    public EndpointError? Connect(string name, string endpoint, SocketCore socket, ZmpSettings settings)
    {
        lock (_gate)
        {
            _bound.TryGetValue(name, out Binding? binding);
            if (binding is not null && !CanJoin(socket, binding.Socket))
            {
                return new EndpointError(ZlinkError.NotCompatible,
                    $"the socket that has bound {EndpointError.Quote(name)} is of a type that is not compatible with {socket.Type.Name}");
            }

            // Alone, the connecting side has its own high-water mark; with a binder, both sockets' marks add up.
            var own = new PeerIdentity(settings.RoutingId, null, "", "", socket.Host.Time);
            var link = new InprocLink(
                socket,
                this,
                new InboundLane(settings.Inbound, socket.Host.Queued) { Conflates = settings.Conflate },
                new InboundLane(settings.Connection.Outbound, socket.Host.Queued) { Conflates = settings.Conflate },
                own)
            {
                Endpoint = endpoint,
                IsActive = true,
                Alias = settings.Alias,
                InboundShare = settings.Inbound,
                OutboundShare = settings.Connection.Outbound,
            };
            link.Lane.BelongTo(link);
            link.Out.SenderCanContinue = () => socket.OnCapacity(link);
            if (!socket.TryAttach(link, peer: null))
            {
                return null;
            }

            _links.Add((socket, endpoint), link);
            if (binding is null)
            {
                link.Problem = "no socket of this context has bound the name yet";
                Add(new Pending(name, link, settings));
                socket.SendWelcome(link, GreetingOccasion.NewLink);
                return EndpointError.None;
            }

            return Join(link, settings, binding, waited: false) ? EndpointError.None : null;
        }
    }

    /// <summary>
    /// Ends the links that a text means. Unread messages are dropped; unsent ones are delivered within <paramref name="linger"/>.
    /// </summary>
    public bool Disconnect(string text, SocketCore socket, TimeSpan linger)
    {
        InprocLink[] links;
        lock (_gate)
        {
            links = _links.Of((socket, text));
            Array.ForEach(links, link => _links.Remove((socket, text), link));
        }

        foreach (InprocLink link in links)
        {
            socket.Detach(link, dropUnread: true);
            link.Close(DisconnectReason.Local, linger);
        }

        return links.Length > 0;
    }

    public void Forget(InprocLink link)
    {
        lock (_gate)
        {
            _links.Remove((link.Socket, link.Endpoint.ToString()), link);
        }
    }

    /// <summary>
    /// A closed link that waits for its name. True: it lingers, and is closed again when its messages are delivered, or time is up.
    /// The native core has no deadline here and delivers even messages sent with linger 0: docs/protocol.md section 15.5.
    /// </summary>
    public bool Leave(InprocLink link, TimeSpan linger)
    {
        lock (_gate)
        {
            if (link.Pending is not { Lingers: false } pending)
            {
                return link.Pending is not null;
            }

            pending.Lingers = linger != TimeSpan.Zero && !_isClosed && link.Out.Counts.QueuedMessages > 0;
            if (!pending.Lingers)
            {
                Remove(pending);
                return false;
            }

            link.Socket.Parts.Reenter();
            if (linger != Timeout.InfiniteTimeSpan)
            {
                pending.Deadline = DefaultContext.Run(() =>
                    link.Socket.Host.Time.CreateTimer(_ => GiveUp(pending), state: null, linger, Timeout.InfiniteTimeSpan));
            }

            return true;
        }
    }

    public void Close()
    {
        Pending[] lingering;
        lock (_gate)
        {
            _isClosed = true;
            lingering = [.. _pending.All.Where(static p => p.Lingers)];
        }

        foreach (Pending pending in lingering)
        {
            GiveUp(pending);
        }
    }

    private static bool CanJoin(SocketCore connecter, SocketCore binder) => binder.Type.IsCompatibleWith((byte)connecter.Type);

    private bool Join(InprocLink connecter, ZmpSettings settings, Binding binding, bool waited)
    {
        SocketCore binder = binding.Socket;
        var own = new PeerIdentity(binding.Settings.RoutingId, null, "", "", binder.Host.Time);
        var link = new InprocLink(binder, this, connecter.Out, connecter.Lane, own)
        {
            Endpoint = connecter.Endpoint,
            IsActive = false,
            InboundShare = binding.Settings.Inbound,
            OutboundShare = binding.Settings.Connection.Outbound,
        };
        connecter.Out.SetLimits(connecter.OutboundShare.And(binding.Settings.Inbound));
        connecter.Lane.SetLimits(binding.Settings.Connection.Outbound.And(connecter.InboundShare));
        if (binding.Settings.Conflate && !settings.Conflate)
        {
            connecter.Out.Conflate();
            connecter.Lane.Conflate();
        }

        PeerIdentity peer = connecter.Alias is { } alias ? own with { RoutingId = alias } : own;
        connecter.Peer = peer;
        peer.Slot.Link = connecter;
        link.SetOther(connecter);
        binder.Introduce(link);
        if (!binder.TryAttach(link, connecter.Own))
        {
            binder.Counters.Remove(link);
            NotifyRefused(binder, connecter.Endpoint, binder.RefusalReason(connecter.Own));
            connecter.Socket.Detach(connecter, dropUnread: true);
            connecter.Close(DisconnectReason.Refused, TimeSpan.Zero);
            return false;
        }

        InprocLink.Join(connecter, link);
        binder.OnCapacity(link);
        connecter.Socket.OnCapacity(connecter);
        if (!binder.Has(link))
        {
            connecter.Socket.Detach(connecter, dropUnread: false);
            connecter.Close(DisconnectReason.Remote, TimeSpan.Zero);
            return true;
        }

        // A ROUTER may know the other end by another link. The binder may have closed its end by now.
        if (!connecter.Socket.TryAttach(connecter, peer, mayEnter: false))
        {
            connecter.Socket.Detach(connecter, dropUnread: true);
            connecter.Close(DisconnectReason.Refused, TimeSpan.Zero);
            if (waited && !connecter.Socket.IsClosed)
            {
                NotifyRefused(connecter.Socket, connecter.Endpoint, connecter.Socket.RefusalReason(peer));
            }

            return false;
        }

        link.PublishReady();
        connecter.PublishReady();
        binder.SendWelcome(link, GreetingOccasion.NewLink);
        connecter.Socket.SendWelcome(connecter, waited ? GreetingOccasion.NextConnection : GreetingOccasion.NewLink);
        return true;
    }

    private static void End(Pending pending)
    {
        pending.Deadline?.Dispose();
        pending.Link.Close(DisconnectReason.Local, TimeSpan.Zero);
        pending.Link.Socket.Parts.Leave();
    }

    private bool Remove(string name, SocketCore socket) => _names.Remove(socket, name) && _bound.Remove(name);

    private void Add(Pending pending)
    {
        _pending.Add(pending.Name, pending);
        pending.Link.Pending = pending;
    }

    private bool Remove(Pending pending)
    {
        pending.Link.Pending = null;
        return _pending.Remove(pending.Name, pending);
    }

    private void GiveUp(Pending pending)
    {
        lock (_gate)
        {
            if (!Remove(pending))
            {
                return;
            }
        }

        End(pending);
    }

    private static void NotifyRefused(SocketCore socket, RedactedEndpoint endpoint, string why)
    {
        Interlocked.Increment(ref socket.Counters.Refused);
        socket.Monitors.Publish(SocketEventTypes.ConnectionRefused, 0, endpoint, "", detail: why);
    }

    private sealed record Binding(SocketCore Socket, ZmpSettings Settings);

    /// <summary>A link that waits for its name to be bound. Under the registry's lock.</summary>
    internal sealed class Pending(string name, InprocLink link, ZmpSettings settings)
    {
        public string Name => name;

        public InprocLink Link => link;

        public ZmpSettings Settings => settings;

        public bool Lingers { get; set; }

        public ITimer? Deadline { get; set; }
    }
}
