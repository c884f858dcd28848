using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>The links of a gateway by endpoint: what the directory lists is connected, once for all services; what it drops is disconnected
/// after a while.</summary>
/// <remarks>Safe for any number of threads. The lock is held for pointer work and for Connect and Disconnect, which return at
/// once.</remarks>
/// <param name="router">The socket, which has no other connections.</param>
/// <param name="clock">The context's.</param>
/// <param name="logger">Logs changes.</param>
/// <param name="removedTimeout">How long a link stays that nobody lists any more.</param>
/// <param name="ejectAfter">See <see cref="GatewayOptions.EjectAfterTimeouts"/>.</param>
/// <param name="onLost">A link that was ready is not any more; outside of the lock.</param>
internal sealed class LinkTable(
    RouterSocket router, TimeProvider clock, ILogger logger, TimeSpan removedTimeout, int ejectAfter, Action<ReceiverLink> onLost)
{
    /// <summary>The events that <see cref="OnEvent"/> understands.</summary>
    public const SocketEventTypes Events = SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected
        | SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectGivenUp
        | SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.HandshakeFailedProtocol | SocketEventTypes.HandshakeFailedAuth;

    private const string NobodyIsBound = "nobody is bound there";

    private readonly Lock _gate = new();
    private readonly Dictionary<string, ReceiverLink> _byEndpoint = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<uint, ReceiverLink> _byNumber = new();
    private readonly CancellationTokenSource _stop = new();
    private uint _lastNumber;

    /// <summary>All links, also those that nobody lists any more: a snapshot in the order in which they were made.</summary>
    public ReceiverLink[] All => [.. _byNumber.Values.OrderBy(static link => link.Number)];

    /// <summary>There is one over inproc, which does not connect again by itself.</summary>
    public bool HasInproc => _byNumber.Values.Any(static link => link.IsInproc);

    /// <summary>The link by whose connection a message came.</summary>
    public ReceiverLink? Find(ReadOnlySpan<byte> name) =>
        _byNumber.TryGetValue(ReceiverLink.NumberIn(name), out ReceiverLink? link) ? link : null;

    /// <summary>Reads several fields of links as of one moment.</summary>
    public T Read<T>(Func<T> read)
    {
        lock (_gate)
        {
            return read();
        }
    }

    /// <summary>The directory says who serves a service.</summary>
    public void Apply(ServicePool pool, ServiceSnapshot listed) => Replace(pool, listed, isLast: false);

    /// <summary>Nobody uses a service any more: its links go unless another service lists them.</summary>
    public void Remove(ServicePool pool) => Replace(pool, new ServiceSnapshot(pool.Service, []), isLast: true);

    /// <summary>A connection has changed.</summary>
    public void OnEvent(in SocketEvent socketEvent)
    {
        string address = socketEvent.RemoteAddress;
        ReceiverLink? link = Find(socketEvent.PeerRoutingId.Span)
            ?? _byNumber.FirstOrDefault(one => string.Equals(one.Value.Shown, address, StringComparison.Ordinal)).Value;
        if (link is null)
        {
            return;
        }

        LinkState state = socketEvent.Type switch
        {
            SocketEventTypes.ConnectionReady => LinkState.Ready,
            SocketEventTypes.ConnectGivenUp => LinkState.Unusable,
            _ => LinkState.Lost,
        };
        if (socketEvent.Type != SocketEventTypes.ConnectRetried || link.State == LinkState.Connecting)
        {
            SetState(link, state, socketEvent.Detail ?? socketEvent.Type.ToString());
        }
    }

    /// <summary>Its receiver says that it is about to end: it gets no further requests and messages over this connection.</summary>
    public void OnDraining(ReceiverLink link)
    {
        if (!link.IsDraining)
        {
            Change(link, static link => link.IsDraining = true);
            ServicesLog.ReceiverDrains(logger, link.Shown);
        }
    }

    /// <summary>Takes the state of all links from the peers of the socket, because events were dropped. Only the loop that calls
    /// <see cref="OnEvent"/> may call it: on another thread an older state could overwrite that of a newer event.</summary>
    public void Reconcile()
    {
        IReadOnlyList<PeerInfo> peers = router.GetPeers();
        foreach (ReceiverLink link in All)
        {
            PeerInfo? peer = peers.FirstOrDefault(peer => peer.RoutingId.Span.SequenceEqual(link.Name))
                ?? peers.FirstOrDefault(peer => string.Equals(peer.Endpoint, link.Shown, StringComparison.Ordinal));
            if (peer is { IsConnected: true })
            {
                SetState(link, LinkState.Ready, "");
            }
            else if (link.State != LinkState.Unusable)
            {
                SetState(link, LinkState.Lost, peer?.WhyNotConnected ?? NobodyIsBound);
            }
        }
    }

    /// <summary>Connects the links over inproc whose binder has ended: the socket does not.</summary>
    public void ConnectInprocAgain()
    {
        foreach (ReceiverLink link in _byNumber.Values.Where(static link => link.IsInproc))
        {
            lock (_gate)
            {
                if (_byNumber.ContainsKey(link.Number) && !router.TryGetPeer(link.Name, out _))
                {
                    Connect(link);
                }
            }

            if (!router.TryGetPeer(link.Name, out PeerInfo? peer) || !peer.IsConnected)
            {
                SetState(link, LinkState.Lost, peer?.WhyNotConnected ?? NobodyIsBound, isWaiting: true);
            }
        }
    }

    /// <summary>No link is disconnected from here on: the socket is being closed.</summary>
    public void Stop() => _stop.Cancel();

    /// <summary>Changes a link under the lock and refreshes its pools.</summary>
    private void Change(ReceiverLink link, Action<ReceiverLink> change)
    {
        bool isLost;
        lock (_gate)
        {
            bool wasReady = link.State == LinkState.Ready;
            change(link);
            isLost = wasReady && link.State != LinkState.Ready;
            link.Pools.ForEach(static pool => pool.Refresh());
        }

        if (isLost)
        {
            onLost(link);
        }
    }

    /// <param name="link">The link.</param>
    /// <param name="state">Its state.</param>
    /// <param name="problem">Why it is not ready.</param>
    /// <param name="isWaiting">Only if it is waiting: whether it is ready is what its events say.</param>
    private void SetState(ReceiverLink link, LinkState state, string problem, bool isWaiting = false)
    {
        bool isUpdate = link.State != state;
        if (!isUpdate && state != LinkState.Ready && string.Equals(link.Trouble, problem, StringComparison.Ordinal))
        {
            return;
        }

        Change(link, link =>
        {
            isUpdate = link.State != state;
            if (isWaiting && link.State is LinkState.Ready or LinkState.Unusable)
            {
                isUpdate = false;
                return;
            }

            if (state == LinkState.Ready && link.State != state)
            {
                link.Connections++;
                link.IsDraining = false;
                link.Health.OnHeard(clock.GetUtcNow());
            }

            link.Since = link.State == state ? link.Since : clock.GetUtcNow();
            link.State = state;
            link.Trouble = state == LinkState.Ready ? null : problem;
        });
        if (isUpdate && state == LinkState.Ready)
        {
            ServicesLog.ReceiverReady(logger, link.Shown);
        }
        else if (isUpdate)
        {
            ServicesLog.ReceiverNotReady(logger, link.Shown, problem);
        }
    }

    private void Replace(ServicePool pool, ServiceSnapshot listed, bool isLast)
    {
        lock (_gate)
        {
            if (pool.IsRemoved)
            {
                return;
            }

            ReceiverLink[] links = [.. listed.Instances.Select(instance => Add(instance, pool))];
            foreach (ReceiverLink dropped in pool.Links.Except(links))
            {
                dropped.Pools.Remove(pool);
                if (dropped.Pools.Count == 0)
                {
                    _ = DisconnectLaterAsync(dropped, ++dropped.Removals);
                }
                else
                {
                    dropped.Receiver = dropped.Receiver with { Service = dropped.Pools[0].Service };
                }
            }

            pool.Listed = listed;
            pool.Links = links;
            pool.IsRemoved = isLast;
            pool.Refresh();
        }
    }

    private ReceiverLink Add(ServiceInstance instance, ServicePool pool)
    {
        string endpoint = instance.Endpoint;
        if (!_byEndpoint.TryGetValue(endpoint, out ReceiverLink? link))
        {
            link = new ReceiverLink(endpoint, ++_lastNumber, ejectAfter) { Since = clock.GetUtcNow() };
            _byEndpoint.Add(endpoint, link);
            _byNumber[link.Number] = link;
            Connect(link);
        }

        if (!link.Pools.Contains(pool))
        {
            link.Pools.Add(pool); // One that nobody had listed is revived with that: its removal finds a pool.
        }

        if (ReferenceEquals(link.Pools[0], pool))
        {
            link.Receiver = instance;
        }

        return link;
    }

    private void Connect(ReceiverLink link)
    {
        try
        {
            router.Connect(link.Endpoint, link.Name);
        }
        catch (Exception e) when (e is ZlinkException or ArgumentException)
        {
            link.State = LinkState.Unusable;
            link.Trouble = e.Message;
            ServicesLog.ReceiverUnusable(logger, link.Shown, e.Message);
        }
    }

    private async Task DisconnectLaterAsync(ReceiverLink link, int removal)
    {
        await Task.Delay(removedTimeout, clock, _stop.Token)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ForceYielding);
        lock (_gate)
        {
            if (_stop.IsCancellationRequested || link.Removals != removal || link.Pools.Count > 0)
            {
                return;
            }

            _byEndpoint.Remove(link.Endpoint);
            _byNumber.TryRemove(link.Number, out _);
            link.State = LinkState.Unusable;
            link.Trouble = "it is not listed any more";
            try
            {
                router.Disconnect(link.Endpoint);
            }
            catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
            {
                // It is gone already: an endpoint that was given up, an inproc binder that has closed, or the whole socket.
            }
        }

        ServicesLog.ReceiverDisconnected(logger, link.Shown);
        onLost(link); // A disconnect of ours raises no event.
    }
}

/// <summary>Passes the events of the socket to the links, in order, and takes the state from the peers where events were dropped.</summary>
internal sealed class LinkEvents(RouterSocket router, LinkTable links) : IDisposable
{
    private readonly SocketMonitor _monitor = router.OpenMonitor(LinkTable.Events);
    private long _dropped;

    public async ValueTask RunAsync(CancellationToken cancellationToken)
    {
        links.OnEvent(await _monitor.ReadAsync(cancellationToken).ConfigureAwait(false));
        if (_monitor.Dropped != _dropped)
        {
            _dropped = _monitor.Dropped;
            links.Reconcile();
        }
    }

    public void Dispose() => _monitor.Dispose();
}

/// <summary>Connects links over inproc again whose binder has ended. Where there is no such link it does nothing.</summary>
internal sealed class InprocReconnects : IDisposable
{
    private readonly LinkTable _links;
    private readonly ITimer _timer;
    private int _isRunning;

    public InprocReconnects(LinkTable links, TimeProvider clock)
    {
        _links = links;
        _timer = clock.CreateTimer(static state => ((InprocReconnects)state!).OnTick(), this, Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan);
    }

    /// <summary>The links have changed: looks now, and from now on if one of them is over inproc.</summary>
    public void Update()
    {
        if (_links.HasInproc)
        {
            OnTick();
            _timer.Change(InprocEndpoints.PollInterval, InprocEndpoints.PollInterval);
        }
    }

    public void Dispose() => _timer.Dispose();

    private void OnTick()
    {
        if (Interlocked.Exchange(ref _isRunning, 1) != 0)
        {
            return; // A look that takes longer than the interval is enough.
        }

        try
        {
            if (_links.HasInproc)
            {
                _links.ConnectInprocAgain();
            }
            else
            {
                _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            _timer.Dispose(); // The socket has ended.
        }
        finally
        {
            Volatile.Write(ref _isRunning, 0);
        }
    }
}
