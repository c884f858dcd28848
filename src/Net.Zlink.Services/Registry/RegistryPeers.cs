using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>The SUB socket of a registry: follows the lists of its peers.</summary>
internal sealed class RegistryPeers : IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly RegistryCore _core;
    private readonly bool _sendsOwnEntries;
    private readonly RoutingId _publisherId;
    private readonly Action _taken;
    private readonly List<string> _endpoints = [];
    private readonly SubSocket _socket;
    private readonly BackgroundLoop _loop;
    private bool _isEnded;

    /// <summary>A registry may be among its own peers: <paramref name="publisherId"/> is its own publisher's. <paramref name="taken"/> is
    /// called behind each list that was taken.</summary>
    public RegistryPeers(ZlinkContext context, RegistryCore core, ServiceRegistryOptions options, RoutingId publisherId, ILogger logger,
        Action taken)
    {
        (_core, _sendsOwnEntries, _publisherId, _taken) = (core, options.SendOwnEntries, publisherId, taken);
        _socket = context.CreateSub(options.PeerSocket.Copy());
        _socket.Subscribe("");
        _loop = BackgroundLoop.Start("registry's peers", logger, context.TimeProvider, TurnAsync);
    }

    /// <summary>Connects a peer; one that is there already stays as it is.</summary>
    public void Add(string endpoint)
    {
        lock (_gate)
        {
            if (!_endpoints.Contains(endpoint))
            {
                _socket.Connect(endpoint);
                _endpoints.Add(endpoint);
                _core.SendsPairs = _sendsOwnEntries;
            }
        }
    }

    /// <summary>Disconnects a peer; its entries go at once.</summary>
    public bool Remove(string endpoint)
    {
        PeerView[] views;
        lock (_gate)
        {
            if (!_endpoints.Remove(endpoint))
            {
                return false;
            }

            views = ViewsOf(peer => IsAt(peer, endpoint));
            _socket.Disconnect(endpoint);
            _core.SendsPairs &= _endpoints.Count > 0;
        }

        foreach (PeerView view in views)
        {
            _core.Do((state, now) => state.RemoveView(now, view, "removed by the application"));
        }

        _taken();
        return true;
    }

    /// <summary>
    /// The views whose connections are there. Peers within the process are reconnected here, because inproc does not reconnect.
    /// </summary>
    public PeerView[] Connected()
    {
        lock (_gate)
        {
            if (_isEnded)
            {
                return [];
            }

            InprocEndpoints.ConnectMissing(_socket, _endpoints);
            return ViewsOf(static peer => peer.IsConnected);
        }
    }

    public RegistryView[] GetViews()
    {
        lock (_gate)
        {
            IReadOnlyList<PeerInfo> peers = _socket.GetPeers();
            return
            [
                .. from endpoint in _endpoints
                   let peer = peers.FirstOrDefault(peer => IsAt(peer, endpoint))
                   select _core.Do((state, _) => state.Describe(peer?.UserState as PeerView, endpoint, peer is { IsConnected: true })),
            ];
        }
    }

    public async ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _isEnded = true;
            _socket.Dispose();
        }

        await _loop.DisposeAsync().ConfigureAwait(false);
    }

    private static bool IsAt(PeerInfo peer, string endpoint) => string.Equals(peer.Endpoint, endpoint, StringComparison.Ordinal);

    private PeerView[] ViewsOf(Func<PeerInfo, bool> which) =>
        [.. _socket.GetPeers().Where(which).Select(static peer => peer.UserState).OfType<PeerView>()];

    private async ValueTask TurnAsync(CancellationToken cancellationToken)
    {
        using Message message = await _socket.ReceiveAsync(cancellationToken).ConfigureAwait(false);
        var view = message.UserState as PeerView;
        if (view is null)
        {
            message.UserState = view = new PeerView(message.RemoteAddress);
        }

        var frames = new Frames(message);
        ServiceListHeader? header = ServiceListHeader.TryRead(frames, out ServiceListHeader list) ? list : null;
        bool isOwnSocket = message.RoutingId.Span.SequenceEqual(_publisherId.Span);
        if (_core.Do((state, now) => state.WantsList(now, view, header, isOwnSocket)))
        {
            SortedDictionary<ServiceKey, ListedService> services = ServiceListReader.Read(frames, list, view.Services);
            List<EntryKey> removed = ListRemovals.Read(frames);
            _core.Do((state, now) => state.TakeList(now, view, list, services, removed));
            _taken();
        }
    }
}
