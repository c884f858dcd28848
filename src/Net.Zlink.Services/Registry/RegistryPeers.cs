using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>The SUB socket of a registry: follows the lists of its peers. There is one only where there are peers.</summary>
/// <param name="context">The context.</param>
/// <param name="core">Takes the lists.</param>
/// <param name="options">The settings.</param>
/// <param name="publisherId">The routing id of the registry's own publisher: it may be among its own peers.</param>
/// <param name="logger">Where failures are told.</param>
/// <param name="taken">Called behind each list that was taken.</param>
internal sealed class RegistryPeers(ZlinkContext context, RegistryCore core, RegistryOptions options, RoutingId publisherId,
    ILogger logger, Action taken) : IAsyncDisposable
{
    // A registry whose machine is gone sends no FIN. The interval and the time are those of leases.
    private static readonly TimeSpan HeartbeatInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan HeartbeatTimeout = TimeSpan.FromSeconds(15);

    private readonly Lock _gate = new();
    private readonly List<string> _endpoints = [];
    private SubSocket? _socket;
    private BackgroundLoop? _loop;
    private bool _isEnded;

    /// <summary>Connects a peer; one that is there already stays as it is.</summary>
    public void Add(string endpoint)
    {
        SubSocket socket = Open();
        lock (_gate)
        {
            if (_endpoints.Contains(endpoint))
            {
                return;
            }

            socket.Connect(endpoint);
            _endpoints.Add(endpoint);
            core.HasPeers = true;
        }
    }

    /// <summary>Disconnects a peer; its entries go at once.</summary>
    public bool Remove(string endpoint)
    {
        PeerView[] views;
        lock (_gate)
        {
            if (_socket is null || !_endpoints.Remove(endpoint))
            {
                return false;
            }

            views = [.. _socket.GetPeers().Where(peer => IsAt(peer, endpoint)).Select(static peer => peer.UserState).OfType<PeerView>()];
            _socket.Disconnect(endpoint);
            core.HasPeers = _endpoints.Count > 0;
        }

        foreach (PeerView view in views)
        {
            core.RemoveView(view, "removed by the application");
        }

        taken();
        return true;
    }

    /// <summary>
    /// The views whose connections are there. Peers within the process are connected anew where they have gone, which no event tells.
    /// </summary>
    public IReadOnlySet<PeerView> Connected()
    {
        lock (_gate)
        {
            if (_socket is null || _isEnded)
            {
                return new HashSet<PeerView>();
            }

            InprocEndpoints.ConnectMissing(_socket, _endpoints);
            return _socket.GetPeers().Where(static peer => peer.IsConnected)
                .Select(static peer => peer.UserState).OfType<PeerView>().ToHashSet();
        }
    }

    /// <summary>All peers, for people.</summary>
    public RegistryView[] GetViews()
    {
        lock (_gate)
        {
            IReadOnlyList<PeerInfo> peers = _socket?.GetPeers() ?? [];
            return
            [
                .. from endpoint in _endpoints
                   let peer = peers.FirstOrDefault(peer => IsAt(peer, endpoint))
                   select core.Describe(peer?.UserState as PeerView, endpoint, peer is { IsConnected: true }),
            ];
        }
    }

    public async ValueTask DisposeAsync()
    {
        BackgroundLoop? loop;
        lock (_gate)
        {
            _isEnded = true;
            _socket?.Dispose();
            loop = _loop;
        }

        if (loop is not null)
        {
            await loop.DisposeAsync().ConfigureAwait(false);
        }
    }

    private static bool IsAt(PeerInfo peer, string endpoint) => string.Equals(peer.Endpoint, endpoint, StringComparison.Ordinal);

    private SubSocket Open()
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isEnded, this);
            if (_socket is not null)
            {
                return _socket;
            }
        }

        var settings = new SubOptions
        {
            HeartbeatInterval = HeartbeatInterval,
            HeartbeatTimeout = HeartbeatTimeout,
            ReconnectAfterFault = true,
        };
        options.ConfigurePeers?.Invoke(settings); // Outside the lock: it is the application's.
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isEnded, this);
            if (_socket is null)
            {
                _socket = context.CreateSub(settings);
                _socket.Subscribe("");
                _loop = BackgroundLoop.Start("registry's peers", logger, context.TimeProvider, TurnAsync);
            }

            return _socket;
        }
    }

    private async ValueTask TurnAsync(CancellationToken cancellationToken)
    {
        using Message message = await _socket!.ReceiveAsync(cancellationToken).ConfigureAwait(false);
        var view = message.UserState as PeerView;
        if (view is null)
        {
            message.UserState = view = new PeerView(message.RemoteAddress);
        }

        var frames = new Frames(message);
        ServiceListHeader? header = ServiceListHeader.TryRead(frames, out ServiceListHeader list) ? list : null;
        bool isOwnSocket = message.RoutingId.Span.SequenceEqual(publisherId.Span);
        if (core.WantsList(view, header, isOwnSocket))
        {
            core.TakeList(view, list, ServiceListReader.Read(frames, list, view.Services));
            taken();
        }
    }
}
