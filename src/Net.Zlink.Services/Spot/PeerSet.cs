using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>The nodes that a node is connected to: those that the application names, and those that directories list. Safe for any number
/// of threads.</summary>
/// <remarks>The lock is held for pointer work and for Connect and Disconnect, which return at once. Few endpoints are dialled at a time, by
/// a <see cref="DialSchedule{T}"/>; those that wait for their turn are not in the socket.</remarks>
internal sealed partial class PeerSet : IDisposable
{
    private const SocketEventTypes Events = SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected
        | SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectGivenUp
        | SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.HandshakeFailedProtocol;

    // Disconnecting an endpoint drops its unread messages, so the dispatch loop reads them first.
    private static readonly TimeSpan DrainPollInterval = TimeSpan.FromMilliseconds(100);

    private readonly SubSocket _socket;
    private readonly PeerSetOptions _options;
    private readonly TimeProvider _clock;
    private readonly long _start;
    private readonly ITimer _timer;
    private readonly EventReader _events;
    private readonly IDisposable _signal;
    private readonly Lock _gate = new();
    private readonly DialSchedule<SpotPeer> _schedule;
    private readonly Dictionary<string, SpotPeer> _peers = new(StringComparer.Ordinal);
    private readonly Dictionary<string, SpotPeer> _byRedacted = new(StringComparer.Ordinal);
    private readonly Dictionary<object, HashSet<string>> _listed = [];
    private readonly Dictionary<object, (string Endpoint, string Why)[]> _refused = [];
    private readonly HashSet<string> _own = new(StringComparer.Ordinal);
    private readonly HashSet<SpotPeer> _kept = [];
    private readonly HashSet<SpotPeer> _undrained = [];
    private readonly HashSet<SpotPeer> _inproc = [];
    private readonly PeerNodes _nodes = new();
    private readonly List<Action> _afterwards = [];
    private TaskCompletionSource _changed = NewChange();
    private TimeSpan? _nextDrainCheck;
    private int _ready;
    private bool _isDisposed;

    public PeerSet(SubSocket socket, PeerSetOptions options, TimeProvider clock)
    {
        _socket = socket;
        _options = options;
        _clock = clock;
        _start = clock.GetTimestamp();
        Gaps = new PeerGaps(clock, socket.Options);
        _schedule = new DialSchedule<SpotPeer>(
            new DialLimits { ConcurrentDials = options.ConcurrentDials, Seed = (uint)GetHashCode() });
        _timer = clock.CreateTimer(static state => ((PeerSet)state!).OnTimer(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _events = new EventReader(socket, Events); // Before the signal: its callback must find the event here.
        _signal = socket.OnEvent(Events, _ => Change(static () => { }));
    }

    public PeerGaps Gaps { get; }

    public int ConnectedCount => Volatile.Read(ref _ready);

    private TimeSpan Now => _clock.GetElapsedTime(_start);

    /// <summary>Connects an endpoint that the application names, until it is removed.</summary>
    /// <exception cref="ZlinkException">The text is not an endpoint; nothing was added.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public void Add(string endpoint) => Change(() =>
    {
        SpotPeer? peer = _peers.GetValueOrDefault(endpoint);
        if (peer is { IsManual: true })
        {
            return;
        }

        if (peer is null or { IsOpen: false, IsAlternate: false })
        {
            _socket.Connect(endpoint); // At once: an application names few. Those that fail wait for their turn as others do.
            peer = FindOrAdd(endpoint);
            (peer.IsOpen, peer.IsUnusable) = (true, false);
            Reschedule(peer);
        }

        peer.IsManual = true;
        Keep(peer);
        RunAfterLock(() => SpotLog.PeerAdded(_options.Logger, peer.Redacted, "the application names it"));
    }, throwIfDisposed: true);

    /// <summary>The application no longer names it; it stays connected while a directory lists it.</summary>
    public bool Remove(string endpoint)
    {
        bool isRemoved = false;
        Change(() =>
        {
            if (_peers.GetValueOrDefault(endpoint) is { IsManual: true } peer)
            {
                peer.IsManual = false;
                isRemoved = true;
                Release(peer, TimeSpan.Zero);
            }
        });
        return isRemoved;
    }

    /// <summary>Applies the present list of a directory.</summary>
    /// <param name="source">The follower of the directory.</param>
    /// <param name="endpoints">The endpoints that it lists, and why some of them must not be connected.</param>
    /// <param name="keepTime">How long a working connection is kept after its endpoint was removed from the list.</param>
    public void SetListed(
        object source, IReadOnlyDictionary<string, string?> endpoints, Func<string, TimeSpan> keepTime) => Change(() =>
    {
        HashSet<string> listed =
            new(endpoints.Where(static one => one.Value is null).Select(static one => one.Key), StringComparer.Ordinal);
        _refused[source] = [.. from one in endpoints where one.Value is not null select (one.Key, one.Value)];
        HashSet<string> before = _listed.GetValueOrDefault(source) ?? [];
        _listed[source] = listed;
        foreach (string endpoint in listed.Where(endpoint => !before.Contains(endpoint)))
        {
            SpotPeer peer = FindOrAdd(endpoint);
            peer.Lists++;
            Keep(peer);
            Want(peer);
            if (peer is { Lists: 1, IsNamed: true, IsManual: false, IsUnusable: false })
            {
                RunAfterLock(() => SpotLog.PeerAdded(_options.Logger, peer.Redacted, "a directory lists it"));
            }
        }

        foreach (string endpoint in before.Where(endpoint => !listed.Contains(endpoint)))
        {
            Unlist(endpoint, keepTime(endpoint));
        }
    });

    public void RemoveListed(object source) => Change(() =>
    {
        _refused.Remove(source);
        if (_listed.Remove(source, out HashSet<string>? listed))
        {
            foreach (string endpoint in listed)
            {
                Unlist(endpoint, TimeSpan.Zero);
            }
        }
    });

    /// <summary>An endpoint of the node itself: it is not connected because a directory lists it.</summary>
    public void AddOwn(string endpoint) => Change(() =>
    {
        _own.Add(endpoint);
        if (_peers.TryGetValue(endpoint, out SpotPeer? peer))
        {
            peer.IsOwn = true;
            Release(peer, TimeSpan.Zero);
        }
    });

    /// <summary>All that are named, connected or not, but for texts that are no endpoints.</summary>
    public IReadOnlyList<PeerInfo> GetPeers()
    {
        lock (_gate)
        {
            IEnumerable<SpotPeer> others =
                _peers.Values.Where(static peer => peer is { IsOpen: false, IsNamed: true, IsUnusable: false });
            var refused = _refused.Values.SelectMany(static one => one).Where(one => !_peers.ContainsKey(one.Endpoint))
                .DistinctBy(static one => one.Endpoint, StringComparer.Ordinal);
            return
            [
                .. _socket.GetPeers(),
                .. others.Select(InfoOf),
                .. refused.Select(static one => InfoOf(new SpotPeer(one.Endpoint) { Problem = one.Why })),
            ];
        }
    }

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

    /// <summary>The first message of a connection came. Only the dispatch loop calls it.</summary>
    public PeerStream BeginStream(Message message)
    {
        var stream = new PeerStream(isIgnored: false);
        message.UserState = stream;
        Change(() => Bind(stream, message.RoutingId)); // Reads the event of the handshake first, which came before the message.
        return stream;
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
        }

        _signal.Dispose();
        _events.Dispose();
        _timer.Dispose();
        Gaps.Complete();
        NotifyChange();
    }

    private static TaskCompletionSource NewChange() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private static PeerInfo InfoOf(SpotPeer peer) => new()
    {
        RoutingId = peer.Node?.Id ?? default(RoutingId),
        Endpoint = peer.Redacted.ToString(),
        WhyNotConnected = peer.IsAlternate ? $"the same node is connected at {peer.Node!.Ready[0].Redacted}"
            : peer.Problem ?? "not dialled yet: others are dialled first",
    };

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

    /// <summary>Applies pending events, then a change; connects and disconnects. Logs outside the lock.</summary>
    private void Change(Action change, bool throwIfDisposed = false)
    {
        Action[] afterwards;
        lock (_gate)
        {
            if (_isDisposed)
            {
                ObjectDisposedException.ThrowIf(throwIfDisposed, "Net.Zlink.Services.SpotNode");
                return;
            }

            Gaps.OnTick();
            ReadEvents();
            change();
            Advance();
            afterwards = [.. _afterwards];
            _afterwards.Clear();
        }

        Array.ForEach(afterwards, static action => action());
        NotifyChange();
    }

    private void RunAfterLock(Action action) => _afterwards.Add(action);

    private SpotPeer FindOrAdd(string endpoint)
    {
        if (!_peers.TryGetValue(endpoint, out SpotPeer? peer))
        {
            peer = new SpotPeer(endpoint) { IsOwn = _own.Contains(endpoint) };
            _peers.Add(endpoint, peer);
            _byRedacted[peer.Redacted.ToString()] = peer;
            if (peer.IsInproc)
            {
                _inproc.Add(peer);
            }

            Gaps.OnNamed(peer);
        }

        return peer;
    }

    /// <summary>It is named, and so it is dialled unless it is connected or an alternate.</summary>
    private void Want(SpotPeer peer)
    {
        if (!peer.IsNamed || peer.IsAlternate || peer.IsUnusable)
        {
            return;
        }

        if (peer.IsInproc)
        {
            Open(peer);
        }
        else
        {
            _schedule.Add(peer, this, Now);
        }
    }

    private void Keep(SpotPeer peer)
    {
        peer.KeptUntil = null;
        _kept.Remove(peer);
        if (peer.IsAlternate)
        {
            peer.Node!.Ready.ForEach(Keep); // The connection that works is wanted for this one.
        }
    }

    private void Unlist(string endpoint, TimeSpan keepTime)
    {
        SpotPeer peer = _peers[endpoint];
        peer.Lists--;
        Release(peer, keepTime);
    }

    /// <summary>One source fewer names it.</summary>
    private void Release(SpotPeer peer, TimeSpan keepTime)
    {
        if (peer.IsWanted)
        {
            return;
        }

        if (peer.IsReady && keepTime != TimeSpan.Zero)
        {
            peer.KeptUntil = keepTime == Timeout.InfiniteTimeSpan ? TimeSpan.MaxValue : Now + keepTime;
            _kept.Add(peer);
            return;
        }

        SpotPeer[] connected = peer.IsAlternate ? [.. peer.Node!.Ready] : [];
        Drop(peer);
        Array.ForEach(connected, other => Release(other, keepTime));
    }

    private void Drop(SpotPeer peer)
    {
        if (peer.IsReady)
        {
            Gaps.OnLost(peer);
        }

        Gaps.OnForgotten(peer);
        Leave(peer);
        _schedule.Remove(peer, this);
        Close(peer);
        _peers.Remove(peer.Endpoint);
        _kept.Remove(peer);
        _inproc.Remove(peer);
        if (_byRedacted.TryGetValue(peer.Redacted.ToString(), out SpotPeer? shown) && ReferenceEquals(shown, peer))
        {
            _byRedacted.Remove(peer.Redacted.ToString());
        }

        RunAfterLock(() => SpotLog.PeerRemoved(_options.Logger, peer.Redacted));
    }

    private void Open(SpotPeer peer)
    {
        if (peer.IsOpen)
        {
            return; // It still has unread messages, and is being dialled.
        }

        try
        {
            _socket.Connect(peer.Endpoint);
            peer.IsOpen = true;
        }
        catch (Exception e) when (e is ZlinkException or ArgumentException or ObjectDisposedException)
        {
            peer.IsUnusable = true;
            _schedule.Remove(peer, this);
            RunAfterLock(() => SpotLog.PeerUnusable(_options.Logger, peer.Redacted, e.Message));
        }
    }

    private void Close(SpotPeer peer)
    {
        _undrained.Remove(peer);
        if (!peer.IsOpen)
        {
            return;
        }

        peer.IsOpen = false;
        try
        {
            _socket.Disconnect(peer.Endpoint);
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            // It is gone already: an inproc binder that has closed, or the whole socket.
        }
    }

    /// <summary>It counts as connected for the schedule, whatever it was there.</summary>
    private void Reschedule(SpotPeer peer)
    {
        if (!peer.IsInproc)
        {
            _schedule.Remove(peer, this);
            _schedule.Add(peer, this, Now, isConnected: true);
        }
    }
}

/// <param name="Logger">Logs changes.</param>
/// <param name="ConcurrentDials">Most dials at a time.</param>
/// <param name="Subscribers">Those that there are now.</param>
internal sealed record PeerSetOptions(ILogger Logger, int ConcurrentDials, Func<SubscriberQueue[]> Subscribers);
