using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>One connection to a registry: a DEALER of its own, which is never used for a second connection, so that what comes by it
/// answers what was sent by it.</summary>
internal sealed class RegistryConnection : IDisposable
{
    // A registry whose machine is gone is noticed before its lease of 15 s is over, and the other way round: both times and the 5 s of a
    // service's heartbeat are 14 s. A ping wakes both processes.
    private static readonly TimeSpan HeartbeatInterval = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan HeartbeatTimeout = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan HeartbeatTtl = TimeSpan.FromSeconds(7); // A pause of 3 s behind the interval ends no connection.
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(1);

    private readonly DealerSocket _socket;
    private readonly IDisposable? _events;
    private readonly ITimer? _poll;
    private readonly RegistryLinkLoop _owner;
    private readonly int _number;
    private DateTimeOffset? _connectedAt;
    private int _isInprocReady;

    public RegistryConnection(ZlinkContext context, RegistryLinkLoop owner, RoutingId routingId, DealerOptions socketOptions, int number)
    {
        DealerOptions options = socketOptions.Copy();
        options.RoutingId = routingId;
        options.Immediate = true; // What was meant for a connection that has ended is not the next one's.
        _owner = owner;
        _number = number;
        _socket = context.CreateDealer(options);
        try
        {
            bool isInproc = InprocEndpoints.IsInproc(owner.RegistryEndpoint);
            if (!isInproc)
            {
                _events = _socket.OnEvent(SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected
                    | SocketEventTypes.ConnectRetried, OnEvent);
            }

            _socket.Connect(owner.RegistryEndpoint);
            _ = ReceiveAsync();
            if (isInproc)
            {
                _poll = context.TimeProvider.CreateTimer(
                    static state => ((RegistryConnection)state!).Poll(), this, TimeSpan.Zero, InprocEndpoints.PollInterval);
            }
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    /// <summary>The values that the options of these sockets begin with.</summary>
    public static DealerOptions Defaults() => new()
    {
        Linger = Linger,
        ReconnectInterval = RegistryLink.ReconnectInterval,
        ReconnectIntervalMax = RegistryLink.ReconnectIntervalMax,
        HeartbeatInterval = HeartbeatInterval,
        HeartbeatTimeout = HeartbeatTimeout,
        HeartbeatTtl = HeartbeatTtl,
    };

    /// <summary>Remembers which connection it is that has become ready.</summary>
    /// <returns>False: it has ended since.</returns>
    public bool TryBegin()
    {
        _connectedAt = ConnectedAt();
        return _connectedAt is not null;
    }

    /// <summary>Whether the connection that <see cref="TryBegin"/> saw is still up: then all that was sent went by it.</summary>
    public bool IsSame() => _connectedAt is { } at && ConnectedAt() == at;

    public bool TrySend(MessageBuilder message) => _socket.TrySend(message);

    public void Dispose()
    {
        _poll?.Dispose();
        _events?.Dispose();
        _socket.Dispose();
    }

    private DateTimeOffset? ConnectedAt() =>
        _socket.GetPeers().FirstOrDefault(static peer => peer.IsConnected) is { } peer ? peer.ConnectedAt ?? DateTimeOffset.MinValue : null;

    private void OnEvent(SocketEvent happened)
    {
        if (happened.Type == SocketEventTypes.ConnectionReady)
        {
            _owner.OnReady(_number);
        }
        else if (happened.Type == SocketEventTypes.Disconnected)
        {
            _owner.OnLost(_number, happened.Detail ?? "the connection ended");
        }
        else
        {
            _owner.OnFailed(_number, happened.Detail ?? "the registry cannot be reached");
        }
    }

    private void Poll()
    {
        int isReady = ConnectedAt() is null ? 0 : 1;
        if (Interlocked.Exchange(ref _isInprocReady, isReady) == isReady)
        {
            return;
        }

        if (isReady != 0)
        {
            _owner.OnReady(_number);
        }
        else
        {
            _owner.OnLost(_number, "the registry has ended");
        }
    }

    private async Task ReceiveAsync()
    {
        try
        {
            await foreach (Message message in _socket.ReceiveAllAsync().ConfigureAwait(false))
            {
                using (message)
                {
                    var frames = new Frames(message);
                    if (RegistrationFrames.TryReadAck(frames, out byte status, out string text))
                    {
                        _owner.OnAck(_number, status, text, RegistrationFrames.HasMark(frames));
                    }
                }
            }
        }
        catch (ObjectDisposedException)
        {
            // The link has a new connection, or has ended.
        }
        catch (ZlinkException)
        {
            _owner.OnLost(_number, "the context was shut down");
        }
    }
}
