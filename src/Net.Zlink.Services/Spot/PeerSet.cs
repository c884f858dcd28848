using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>The nodes that a node is connected to: those that the application names, and those that directories list. Safe for any number
/// of threads.</summary>
internal sealed class PeerSet : IDisposable
{
    private readonly SubSocket _socket;
    private readonly ILogger _logger;
    private readonly ITimer _timer;
    private readonly IDisposable _events;
    private readonly Lock _gate = new();
    private readonly HashSet<string> _manual = new(StringComparer.Ordinal);
    private readonly Dictionary<object, IReadOnlyCollection<string>> _listed = [];
    private readonly HashSet<string> _own = new(StringComparer.Ordinal);
    private readonly HashSet<string> _connected = new(StringComparer.Ordinal);
    private readonly HashSet<string> _unusable = new(StringComparer.Ordinal);
    private TaskCompletionSource _changed = NewChange();
    private bool _isDisposed;

    public PeerSet(SubSocket socket, TimeProvider clock, ILogger logger)
    {
        _socket = socket;
        _logger = logger;
        _timer = clock.CreateTimer(static state => ((PeerSet)state!).PollInproc(), this, Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan);
        _events = socket.OnEvent(SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected, _ => NotifyChange());
    }

    public int ConnectedCount => _socket.GetPeers().Count(static peer => peer.IsConnected);

    /// <summary>Connects for good what the application names.</summary>
    /// <exception cref="ZlinkException">That is no endpoint; nothing was added.</exception>
    public void Add(string endpoint)
    {
        lock (_gate)
        {
            if (_manual.Contains(endpoint))
            {
                return;
            }

            if (!_connected.Contains(endpoint))
            {
                _socket.Connect(endpoint);
                _connected.Add(endpoint);
            }

            _manual.Add(endpoint);
            _unusable.Remove(endpoint);
            ArmTimer(endpoint);
        }

        SpotLog.PeerAdded(_logger, endpoint, "the application names it");
        NotifyChange();
    }

    /// <summary>The application names it no more; it stays connected while a directory lists it.</summary>
    public bool Remove(string endpoint)
    {
        bool isRemoved = false;
        Change(() => isRemoved = _manual.Remove(endpoint));
        return isRemoved;
    }

    public void SetListed(object source, IReadOnlyCollection<string> endpoints) => Change(() =>
    {
        _listed[source] = endpoints;
        _unusable.Clear();
        return true;
    });

    public void RemoveListed(object source) => Change(() => _listed.Remove(source));

    /// <summary>An endpoint of the node itself: it is not connected because a directory lists it.</summary>
    public void AddOwn(string endpoint) => Change(() => _own.Add(endpoint));

    public async ValueTask WaitAsync(int count, CancellationToken cancellationToken)
    {
        while (true)
        {
            Task changed;
            lock (_gate)
            {
                ObjectDisposedException.ThrowIf(_isDisposed, "Net.Zlink.Services.SpotNode");
                changed = _changed.Task;
            }

            if (ConnectedCount >= count)
            {
                return;
            }

            await changed.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
        }

        _events.Dispose();
        _timer.Dispose();
        NotifyChange();
    }

    private static TaskCompletionSource NewChange() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private void NotifyChange()
    {
        TaskCompletionSource changed;
        lock (_gate)
        {
            changed = _changed;
            _changed = NewChange();
        }

        changed.TrySetResult();
    }

    /// <summary>Changes what is wanted, connects and disconnects, and logs outside of the lock.</summary>
    private void Change(Func<bool> change)
    {
        List<string> added = [];
        List<(string Endpoint, string Reason)> unusable = [];
        string[] removed = [];
        lock (_gate)
        {
            if (!change() || _isDisposed)
            {
                return;
            }

            HashSet<string> wanted = new(_listed.Values.SelectMany(static endpoints => endpoints), StringComparer.Ordinal);
            wanted.ExceptWith(_own);
            wanted.ExceptWith(_unusable);
            wanted.UnionWith(_manual);
            removed = [.. _connected.Except(wanted, StringComparer.Ordinal)];
            Array.ForEach(removed, Disconnect);
            foreach (string endpoint in wanted.Except(_connected, StringComparer.Ordinal).ToArray())
            {
                if (TryConnect(endpoint) is { } reason)
                {
                    _unusable.Add(endpoint);
                    unusable.Add((endpoint, reason));
                }
                else
                {
                    added.Add(endpoint);
                }
            }
        }

        added.ForEach(endpoint => SpotLog.PeerAdded(_logger, endpoint, "a directory lists it"));
        Array.ForEach(removed, endpoint => SpotLog.PeerRemoved(_logger, endpoint));
        unusable.ForEach(one => SpotLog.PeerUnusable(_logger, one.Endpoint, one.Reason));
        NotifyChange();
    }

    /// <summary>Null, or why it cannot be connected. Under the lock.</summary>
    private string? TryConnect(string endpoint)
    {
        try
        {
            _socket.Connect(endpoint);
        }
        catch (Exception e) when (e is ZlinkException or ArgumentException or ObjectDisposedException)
        {
            return e.Message;
        }

        _connected.Add(endpoint);
        ArmTimer(endpoint);
        return null;
    }

    /// <summary>Under the lock.</summary>
    private void Disconnect(string endpoint)
    {
        _connected.Remove(endpoint);
        try
        {
            _socket.Disconnect(endpoint);
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            // It is gone already: an inproc binder that has closed, or the whole socket.
        }
    }

    private void ArmTimer(string endpoint)
    {
        if (InprocEndpoints.IsInproc(endpoint))
        {
            _timer.Change(InprocEndpoints.PollInterval, Timeout.InfiniteTimeSpan);
        }
    }

    private void PollInproc()
    {
        lock (_gate)
        {
            if (_isDisposed || !_connected.Any(InprocEndpoints.IsInproc))
            {
                return;
            }

            InprocEndpoints.ConnectMissing(_socket, _connected);
            _timer.Change(InprocEndpoints.PollInterval, Timeout.InfiniteTimeSpan);
        }

        NotifyChange();
    }
}
