using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets;

/// <summary>The inproc names of one context: who has bound them, and who waits for a binder.</summary>
/// <remarks>Its lock is taken before those of sockets and held while two ends are joined, so a connect meets a bind either before or after,
/// never half.</remarks>
internal sealed class InprocRegistry
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Binding> _bound = new(StringComparer.Ordinal);
    private readonly ListsByKey<string, Pending> _pending = new(StringComparer.Ordinal);
    // The same ones: who leaves is one of thousands that may wait for one name.
    private readonly Dictionary<InprocLink, Pending> _pendingByLink = [];
    private bool _isClosed;

    /// <summary>Binds a name. False if it is taken.</summary>
    public bool TryBind(string name, SocketCore socket, ZmpSettings settings)
    {
        List<(SocketCore Socket, string Endpoint, string Why)>? mismatches = null;
        lock (_gate)
        {
            var binding = new Binding(socket, settings);
            if (!_bound.TryAdd(name, binding))
            {
                return false;
            }

            foreach (Pending pending in _pending.Of(name))
            {
                if (CanJoin(pending.Pipe.Socket, socket))
                {
                    Remove(pending);
                    Join(pending.Pipe, pending.Settings, binding, waited: true);
                    if (pending.Lingers)
                    {
                        End(pending); // What it had sent is the binder's now.
                    }
                }
                else
                {
                    // Like a connection of the wrong type that comes in, or is made, again and again: each side is told whom it has met.
                    (string here, string there) = (socket.Type.Name, pending.Pipe.Socket.Type.Name);
                    pending.Pipe.Problem =
                        $"the name was bound by a {here}, which a {there} does not talk to; this endpoint waits for another";
                    (mismatches ??= []).Add((pending.Pipe.Socket, pending.Pipe.Endpoint, pending.Pipe.Problem));
                    mismatches.Add((socket, pending.Pipe.Endpoint,
                        $"a {there} has connected to this name, which a {here} does not talk to"));
                }
            }
        }

        foreach ((SocketCore one, string endpoint, string why) in mismatches ?? [])
        {
            NotifyRefused(one, endpoint, why);
            one.Host.Warnings.ConnectionRefused(endpoint, why);
        }

        return true;
    }

    /// <summary>Frees a name that the socket has bound; pipes live on. False if it has not.</summary>
    public bool Unbind(string name, SocketCore socket)
    {
        lock (_gate)
        {
            return _bound.TryGetValue(name, out Binding? binding) && ReferenceEquals(binding.Socket, socket) && _bound.Remove(name);
        }
    }

    /// <summary>Connects to a name, also before it is bound.</summary>
    /// <returns>The connecter's end; null if the two types cannot talk, which <paramref name="mismatch"/> tells, or one of the two has no
    /// place for another pipe.</returns>
    public InprocLink? Connect(string name, string endpoint, SocketCore socket, ZmpSettings settings, out bool mismatch)
    {
        lock (_gate)
        {
            _bound.TryGetValue(name, out Binding? binding);
            mismatch = binding is not null && !CanJoin(socket, binding.Socket);
            if (mismatch)
            {
                return null;
            }

            // Alone, the connecter has its own marks; with a binder the two sockets' marks add up.
            var own = new PeerIdentity(settings.RoutingId, null, "", "", socket.Host.Time.GetUtcNow());
            var link = new InprocLink(
                socket,
                new InboundLane(settings.Inbound, socket.Host.Budget) { Conflates = settings.Conflate },
                new InboundLane(settings.Outbound, socket.Host.Budget) { Conflates = settings.Conflate },
                own)
            {
                Endpoint = endpoint,
                IsActive = true,
                Alias = settings.Alias,
                InboundShare = settings.Inbound,
                OutboundShare = settings.Outbound,
            };
            link.Lane.BelongTo(link);
            link.Out.SenderCanContinue = () => socket.OnCapacity(link);
            if (!socket.TryAttach(link, peer: null))
            {
                return null;
            }

            if (binding is null)
            {
                link.Problem = "nobody in this context has bound the name yet";
                Add(new Pending(name, link, settings));
                socket.SendWelcome(link, GreetingOccasion.NewLink);
                return link;
            }

            return Join(link, settings, binding, waited: false) ? link : null;
        }
    }

    /// <summary>A connecter is about to close its pipe: if it waits for a binder, only what it has sent does so from here on, for at most
    /// <paramref name="linger"/>.</summary>
    /// <remarks>The native core, which has no deadline here, delivers even what was sent with a linger time of zero: docs/protocol.md
    /// section 15.5.</remarks>
    public void Leave(InprocLink link, TimeSpan linger)
    {
        lock (_gate)
        {
            if (!_pendingByLink.TryGetValue(link, out Pending? pending) || pending.Lingers)
            {
                return;
            }

            link.Out.Close();
            pending.Lingers = linger != TimeSpan.Zero && !_isClosed && link.Out.Counts.QueuedMessages > 0;
            if (!pending.Lingers)
            {
                Remove(pending);
                return;
            }

            link.IsAwaited = true;
            link.Socket.EnterAgain();
            if (linger != Timeout.InfiniteTimeSpan)
            {
                pending.Deadline = DefaultContext.Run(() =>
                    link.Socket.Host.Time.CreateTimer(_ => GiveUp(pending), state: null, linger, Timeout.InfiniteTimeSpan));
            }
        }
    }

    /// <summary>Nobody binds any more: what waits for it on behalf of closed sockets is dropped.</summary>
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

    private static bool CanJoin(SocketCore connecter, SocketCore binder) => binder.Type.MayTalkTo((byte)connecter.Type);

    private static bool Join(InprocLink connecter, ZmpSettings settings, Binding binding, bool waited)
    {
        SocketCore binder = binding.Socket;
        var own = new PeerIdentity(binding.Settings.RoutingId, null, "", "", binder.Host.Time.GetUtcNow());
        var link = new InprocLink(binder, connecter.Out, connecter.Lane, own)
        {
            Endpoint = connecter.Endpoint,
            IsActive = false,
            InboundShare = binding.Settings.Inbound,
            OutboundShare = binding.Settings.Outbound,
        };
        connecter.Out.SetLimits(connecter.OutboundShare.And(binding.Settings.Inbound));
        connecter.Lane.SetLimits(binding.Settings.Outbound.And(connecter.InboundShare));
        if (binding.Settings.Conflate && !settings.Conflate)
        {
            connecter.Out.Conflate();
            connecter.Lane.Conflate();
        }

        // From the moment that the binder has the pipe it may send, in the name that the connecter gave it and through the connecter's
        // filter.
        PeerIdentity peer = connecter.Alias is { } alias ? own with { RoutingId = alias } : own;
        connecter.Peer = peer;
        peer.Slot.Pipe = connecter;
        link.Face(connecter);
        binder.Introduce(link);
        if (!binder.TryAttach(link, connecter.Own))
        {
            binder.Counters.Remove(link);
            NotifyRefused(binder, connecter.Endpoint, binder.RefusalReason(connecter.Own));
            connecter.Socket.Detach(connecter, dropUnread: true); // At most what it was introduced with.
            connecter.Close(DisconnectReason.Refused, TimeSpan.Zero); // What it had sent already is dropped.
            return false;
        }

        InprocLink.Join(connecter, link);
        binder.OnCapacity(link); // The connecter may have made room for it before it knew whom to tell.
        connecter.Socket.OnCapacity(connecter); // The two sockets' marks add up: it may have been at its own.
        if (!binder.Has(link))
        {
            // It was closed meanwhile, and may not have seen the connecter yet.
            connecter.Socket.Detach(connecter, dropUnread: false);
            connecter.Close(DisconnectReason.Remote, TimeSpan.Zero);
            return true;
        }

        // Who is at the other end, a ROUTER may know by another pipe. The binder may have closed its own by now, and with it this one's
        // place.
        if (!connecter.Socket.TryIdentify(connecter, peer))
        {
            connecter.Socket.Detach(connecter, dropUnread: true);
            connecter.Close(DisconnectReason.Refused, TimeSpan.Zero);
            if (waited && !connecter.Socket.IsClosed)
            {
                NotifyRefused(connecter.Socket, connecter.Endpoint, connecter.Socket.RefusalReason(peer)); // Else whoever connects is told.
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
        InprocLink link = pending.Pipe;
        link.IsAwaited = false;
        link.Close(DisconnectReason.Local, TimeSpan.Zero);
        link.Socket.Leave();
    }

    /// <summary>It waits from here on. Under the lock, as the other.</summary>
    private void Add(Pending pending)
    {
        _pending.Add(pending.Name, pending);
        _pendingByLink.Add(pending.Pipe, pending);
    }

    /// <summary>It waits no longer. False if it did not.</summary>
    private bool Remove(Pending pending)
    {
        _pendingByLink.RemoveAndTrim(pending.Pipe, out _);
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

    private static void NotifyRefused(SocketCore socket, string endpoint, string why)
    {
        Interlocked.Increment(ref socket.Counters.Refused);
        socket.Monitors.Publish(SocketEventTypes.ConnectionRefused, 0, endpoint, "", detail: why);
    }

    private sealed record Binding(SocketCore Socket, ZmpSettings Settings);

    private sealed class Pending(string name, InprocLink link, ZmpSettings settings)
    {
        public string Name => name;

        public InprocLink Pipe => link;

        public ZmpSettings Settings => settings;

        /// <summary>Its socket has let go of it; what it has sent waits on.</summary>
        public bool Lingers { get; set; }

        /// <summary>When it does not any more; null: never.</summary>
        public ITimer? Deadline { get; set; }
    }
}
