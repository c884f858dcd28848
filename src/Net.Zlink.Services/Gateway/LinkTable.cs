using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>The links of a gateway by endpoint. Connects every endpoint in the directory, once per endpoint, and disconnects those removed
/// from it after a delay. The cost of a change depends on what changed, not on the number of links.</summary>
/// <remarks>Safe for any number of threads. The lock is held for pointer work and for Connect and Disconnect, which return at
/// once.</remarks>
internal sealed class LinkTable : IDisposable
{
    /// <summary>The events that <see cref="OnEvents"/> understands. Each failed attempt and each lost connection ends with
    /// ConnectRetried.</summary>
    public const SocketEventTypes Events = SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected
        | SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectGivenUp;

    private const string NotBound = "no socket is bound to this name";

    private readonly RouterSocket _router;
    private readonly TimeProvider _clock;
    private readonly ILogger _logger;
    private readonly ServiceGatewayOptions _options;
    private readonly Func<string, string?> _whyRefused;
    private readonly Action<ReceiverLink> _onLost;
    private readonly LinkDialer _dialer;
    private readonly ITimer _timer;
    private readonly Lock _gate = new();
    private readonly Dictionary<string, ReceiverLink> _byEndpoint = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<uint, ReceiverLink> _byNumber = new();
    private readonly ConcurrentDictionary<uint, ReceiverLink> _inproc = new();
    private readonly Queue<(ReceiverLink Link, int Removal, TimeSpan Due)> _removals = new();
    private readonly List<ServicePool> _stale = [];
    private readonly List<Action> _after = [];
    private uint _lastNumber;
    private bool _isStopped;

    /// <param name="router">The socket, which has no other connections, and does not connect again by itself.</param>
    /// <param name="clock">The context's.</param>
    /// <param name="logger">Logs changes.</param>
    /// <param name="limits">How many are dialled and connected.</param>
    /// <param name="options">The gateway's.</param>
    /// <param name="whyRefused">Why an endpoint of the directory is not to be connected; null: it may be.</param>
    /// <param name="onLost">A link that was ready is not any more; outside of the lock.</param>
    public LinkTable(RouterSocket router, TimeProvider clock, ILogger logger, DialLimits limits, ServiceGatewayOptions options,
        Func<string, string?> whyRefused, Action<ReceiverLink> onLost)
    {
        (_router, _clock, _logger, _options) = (router, clock, logger, options);
        (_whyRefused, _onLost) = (whyRefused, onLost);
        _dialer = new LinkDialer(router, clock, limits);
        _timer = clock.CreateTimer(static state => ((LinkTable)state!).Run(static () => { }), this, Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan);
    }

    /// <summary>All links, also those no longer listed: a snapshot in the order of their creation.</summary>
    public ReceiverLink[] All => [.. _byNumber.Values.OrderBy(static link => link.Number)];

    /// <summary>There is one over inproc, which does not connect again by itself.</summary>
    public bool HasInproc => !_inproc.IsEmpty;

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
    public void Apply(ServicePool pool, ServiceSnapshot listed) => Run(() => Replace(pool, listed, isLast: false));

    /// <summary>A service is no longer used: its links are removed unless another service lists them.</summary>
    public void Remove(ServicePool pool) => Run(() => Replace(pool, new ServiceSnapshot(pool.Service, []), isLast: true));

    /// <summary>Connections have changed. Pools are made anew once for all of them.</summary>
    public void OnEvents(List<SocketEvent> events) => Run(() => events.ForEach(one => OnEvent(one)));

    /// <summary>Its receiver says that it is about to end: it gets no further requests and messages over this connection.</summary>
    public void OnDraining(ReceiverLink link)
    {
        if (!link.IsDraining)
        {
            Change(link, static link => link.IsDraining = true);
            ServicesLog.ReceiverDrains(_logger, link.Receiver.Service, link.Redacted);
        }
    }

    /// <summary>Takes the state of all links from the peers of the socket, because events were dropped. Only the loop that calls
    /// <see cref="OnEvents"/> may call it: on another thread an older state could overwrite that of a newer event.</summary>
    public void Reconcile()
    {
        var peers = new Dictionary<uint, PeerInfo>();
        foreach (PeerInfo peer in _router.GetPeers())
        {
            peers[ReceiverLink.NumberIn(peer.RoutingId.Span)] = peer;
        }

        Run(() =>
        {
            foreach (ReceiverLink link in _byNumber.Values)
            {
                Reconcile(link, peers.GetValueOrDefault(link.Number));
            }
        });
    }

    /// <summary>Connects the links over inproc whose binder has ended: the socket does not.</summary>
    public void ConnectInprocAgain() => Run(() =>
    {
        foreach (ReceiverLink link in _inproc.Values)
        {
            if (!_router.TryGetPeer(link.Name, out _))
            {
                ConnectInproc(link);
            }

            if (link.State is LinkState.Connecting or LinkState.Lost
                && (!_router.TryGetPeer(link.Name, out PeerInfo? peer) || !peer.IsConnected))
            {
                SetState(link, LinkState.Lost, NotBound); // Whether it is ready is what its events say.
            }
        }
    });

    /// <summary>No link is connected or disconnected from here on: the socket is being closed.</summary>
    public void Stop()
    {
        lock (_gate)
        {
            _isStopped = true;
            _removals.Clear();
        }

        _timer.Dispose();
    }

    public void Dispose() => Stop();

    /// <summary>Changes a link under the lock and refreshes its pools.</summary>
    public void Change(ReceiverLink link, Action<ReceiverLink> change) => Run(() => ChangeIn(link, change));

    /// <summary>Changes something under the lock, dials who may be dialled, makes the pools anew that changed; logs and reports outside of
    /// the lock.</summary>
    private void Run(Action change)
    {
        Action[] after;
        lock (_gate)
        {
            change();
            if (!_isStopped)
            {
                EndRemovals();
                Dial();
            }

            _stale.ForEach(static pool => pool.Refresh());
            _stale.Clear();
            after = [.. _after];
            _after.Clear();
        }

        Array.ForEach(after, static report => report());
    }

    private void OnEvent(in SocketEvent socketEvent)
    {
        if (Find(socketEvent.PeerRoutingId.Span) is not { } link)
        {
            return;
        }

        string detail = socketEvent.Detail ?? socketEvent.Type.ToString();
        switch (socketEvent.Type)
        {
            case SocketEventTypes.ConnectionReady when link.IsInproc || _dialer.OnReady(link):
                SetState(link, LinkState.Ready, detail);
                break;
            case SocketEventTypes.ConnectGivenUp:
                _dialer.Forget(link);
                SetState(link, LinkState.Unusable, detail);
                break;
            case SocketEventTypes.Disconnected when link.State == LinkState.Ready:
                SetState(link, LinkState.Lost, detail);
                break;
            case SocketEventTypes.ConnectRetried when _dialer.OnEnded(link):
                SetState(link, LinkState.Lost, detail);
                break;
            default:
                break; // Of an attempt that was ended since.
        }
    }

    private void Reconcile(ReceiverLink link, PeerInfo? peer)
    {
        if (peer is { IsConnected: true })
        {
            if (link.IsInproc || _dialer.OnReady(link))
            {
                SetState(link, LinkState.Ready, "");
            }
        }
        else if (link.IsInproc ? link.State != LinkState.Unusable
            : link.State == LinkState.Ready || _dialer.HasEnded(link, peer))
        {
            _dialer.OnEnded(link);
            SetState(link, LinkState.Lost, peer?.WhyNotConnected ?? NotBound);
        }
    }

    private void Dial()
    {
        while (_dialer.TryDial(out ReceiverLink? link, out string? problem, out bool isUnusable))
        {
            if (problem is not null)
            {
                SetState(link, isUnusable ? LinkState.Unusable : LinkState.Lost, problem);
            }
        }

        TimeSpan? due = _dialer.NextDue;
        if (_removals.TryPeek(out (ReceiverLink Link, int Removal, TimeSpan Due) next) && (due is null || next.Due < due))
        {
            due = next.Due;
        }

        // A timer cuts fractions of a millisecond off, and would come too early.
        _timer.ChangeDue(due is { } at ? TimeSpan.FromMilliseconds(Math.Ceiling((at - _dialer.Now).TotalMilliseconds)) : null);
    }

    /// <summary>Under the lock, as all below.</summary>
    private void ChangeIn(ReceiverLink link, Action<ReceiverLink> change)
    {
        bool wasReady = link.State == LinkState.Ready;
        change(link);
        foreach (Listing listing in link.Listings)
        {
            if (listing.Pool.OnChanged(listing, link) && !_stale.Contains(listing.Pool))
            {
                _stale.Add(listing.Pool);
            }
        }

        if (wasReady && link.State != LinkState.Ready)
        {
            _after.Add(() => _onLost(link));
        }
    }

    private void SetState(ReceiverLink link, LinkState state, string problem)
    {
        LinkState before = link.State;
        ChangeIn(link, link =>
        {
            if (state == LinkState.Ready && before != state)
            {
                link.Connections++;
                link.IsDraining = false;
                link.Health.OnReceived(_clock.GetUtcNow());
            }

            link.Since = before == state ? link.Since : _clock.GetUtcNow();
            link.State = state;
            link.Problem = state == LinkState.Ready ? null : problem;
        });
        if (before != state)
        {
            _after.Add(() => Log(link, before, state, problem));
        }
    }

    private void Log(ReceiverLink link, LinkState before, LinkState state, string problem)
    {
        switch (state)
        {
            case LinkState.Ready:
                ServicesLog.ReceiverReady(_logger, link.Receiver.Service, link.Redacted);
                break;
            case LinkState.Unusable:
                ServicesLog.ReceiverUnusable(_logger, link.Receiver.Service, link.Redacted, problem);
                break;
            default:
                if (before == LinkState.Connecting)
                {
                    ServicesLog.ReceiverNotReached(_logger, link.Receiver.Service, link.Redacted, problem);
                }
                else
                {
                    ServicesLog.ReceiverNotReady(_logger, link.Receiver.Service, link.Redacted, problem);
                }

                break;
        }
    }

    private void Replace(ServicePool pool, ServiceSnapshot listed, bool isLast)
    {
        if (pool.IsRemoved)
        {
            return;
        }

        ReceiverLink[] before = pool.Links;
        var links = new ReceiverLink[listed.Instances.Length];
        pool.Begin(listed, links, isLast);
        for (int i = 0; i < links.Length; i++)
        {
            links[i] = Add(listed.Instances[i], pool, i);
        }

        foreach (ReceiverLink dropped in before)
        {
            if (dropped.ListingOf(pool) is { } listing && !pool.Lists(listing))
            {
                Drop(dropped, listing);
            }
        }

        if (links.Length > _options.MaxConnectedEndpoints && before.Length <= _options.MaxConnectedEndpoints)
        {
            _after.Add(() => ServicesLog.ServiceOverLimit(_logger, pool.Service, links.Length, _options.MaxConnectedEndpoints));
        }

        _stale.Add(pool);
    }

    private ReceiverLink Add(ServiceInstance instance, ServicePool pool, int place)
    {
        string endpoint = instance.Endpoint;
        if (!_byEndpoint.TryGetValue(endpoint, out ReceiverLink? link))
        {
            link = new ReceiverLink(endpoint, ++_lastNumber, _options.EjectAfterTimeouts) { Since = _clock.GetUtcNow() };
            _byEndpoint.Add(endpoint, link);
            _byNumber[link.Number] = link;
            if (_whyRefused(endpoint) is { } why)
            {
                SetState(link, LinkState.Unusable, why);
            }
            else if (link.IsInproc)
            {
                _inproc[link.Number] = link;
                ConnectInproc(link);
            }
        }

        if (link.ListingOf(pool) is not { } listing)
        {
            link.Listings.Add(listing = new Listing(pool)); // A link without a listing is used again: its removal must find a listing.
            if (!link.IsInproc && link.State != LinkState.Unusable)
            {
                _dialer.Add(link, pool);
            }
        }

        pool.Place(listing, link, place);
        if (ReferenceEquals(link.Listings[0], listing))
        {
            link.Receiver = instance;
        }

        return link;
    }

    private void Drop(ReceiverLink link, Listing listing)
    {
        link.Listings.Remove(listing);
        _dialer.Remove(link, listing.Pool);
        if (link.Listings.Count > 0)
        {
            (ServiceInstance one, string service) = (link.Receiver, link.Listings[0].Pool.Service);
            link.Receiver = new ServiceInstance(service, one.Endpoint) { RoutingId = one.RoutingId, Weight = one.Weight };
        }
        else if (_options.RemovedEndpointTimeout != Timeout.InfiniteTimeSpan)
        {
            _removals.Enqueue((link, ++link.Removals, _dialer.Now + _options.RemovedEndpointTimeout));
        }
    }

    private void EndRemovals()
    {
        TimeSpan now = _dialer.Now;
        while (_removals.TryPeek(out (ReceiverLink Link, int Removal, TimeSpan Due) next) && next.Due <= now)
        {
            _removals.Dequeue();
            ReceiverLink link = next.Link;
            if (link.Removals != next.Removal || link.Listings.Count > 0)
            {
                continue;
            }

            _byEndpoint.Remove(link.Endpoint);
            _byNumber.TryRemove(link.Number, out _);
            _inproc.TryRemove(link.Number, out _);
            link.State = LinkState.Unusable;
            link.Problem = "the endpoint is no longer listed";
            _dialer.Disconnect(link);
            _after.Add(() => ServicesLog.ReceiverDisconnected(_logger, link.Receiver.Service, link.Redacted));
            _after.Add(() => _onLost(link)); // A disconnect of ours raises no event.
        }
    }

    private void ConnectInproc(ReceiverLink link)
    {
        if (_dialer.Connect(link, out bool isUnusable) is { } problem && isUnusable)
        {
            SetState(link, LinkState.Unusable, problem);
        }
    }
}

/// <summary>Passes the events of the socket to the links, in order, and takes the state from the peers where events were dropped.</summary>
internal sealed class LinkEvents(RouterSocket router, LinkTable links) : IDisposable
{
    private const int BatchSize = 64;

    private readonly EventReader _reader = new(router, LinkTable.Events);
    private readonly List<SocketEvent> _batch = new(BatchSize);

    /// <summary>Takes what has happened; the wait for it ends with the socket.</summary>
    public async ValueTask RunAsync(CancellationToken cancellationToken)
    {
        _batch.Clear();
        _batch.Add(await _reader.ReadAsync().ConfigureAwait(false));
        while (_batch.Count < BatchSize && _reader.TryRead(out SocketEvent next))
        {
            _batch.Add(next);
        }

        links.OnEvents(_batch);
        if (_batch.Exists(static one => one.Type == SocketEventTypes.EventsDropped))
        {
            links.Reconcile();
        }
    }

    public void Dispose() => _reader.Dispose();
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
            return; // A check that takes longer than the interval is enough.
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
