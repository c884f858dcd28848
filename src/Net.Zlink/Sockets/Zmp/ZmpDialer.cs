using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// A lost connection, a timeout or a refused dial is retried after the configured pause. A protocol fault of either side ends the endpoint,
/// because the next connection would meet it again. The ERROR codes for expired timers are retried, with growing pauses: docs/protocol.md
/// section 15.
/// </summary>
internal sealed class ZmpDialer
{
    private const string ReplacedText = "another peer took over its routing id";

    private readonly SocketCore _socket;
    private readonly WireEndpoint _target;
    private readonly ZmpSettings _settings;
    private readonly ConnectStep _dialing;
    private readonly ConnectAttempts _attempts;
    private readonly WakeablePause _pause = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly PredecessorWait _predecessor;
    private readonly Lock _gate = new();
    private WireLink _link;
    private ZmpSession? _session;
    private DisconnectReason _closeReason;
    private TimeSpan _linger;
    private long _closedAt;
    private bool _isClosing;
    private bool _isLinkUsed;
    private Func<Task>? _whenFree;
    private string? _problem;
    private string? _logged;
    private ITimer? _deadline;
    private Task _lastClosed = Task.CompletedTask;

    public ZmpDialer(SocketCore socket, WireEndpoint target, ZmpSettings settings, ZmpDialer? before)
    {
        _socket = socket;
        _target = target;
        _settings = settings;
        _dialing = new ConnectStep(socket, target, settings.Transport);
        _attempts = new ConnectAttempts(settings.Reconnect, settings.ReconnectAfterFault);
        _predecessor = new PredecessorWait(before?._predecessor, socket.Host.Time, () => Writes);
        _link = NewLink();
    }

    public string Text => _target.Text;

    public WireEndpoint Target => _target;

    public byte[]? Alias => _settings.Alias;

    public WireLink Link => Volatile.Read(ref _link);

    public string? Problem => Volatile.Read(ref _problem);

    /// <summary>Completes when it makes no connection any more and the last one has ended.</summary>
    public Task Over => _predecessor.Completion;

    /// <summary>The caller has entered the socket for it.</summary>
    public void Start()
    {
        _socket.GivenUp.Forget(Text);
        _ = DefaultContext.Run(RunAsync);
    }

    public void Discard()
    {
        _predecessor.End();
        _socket.Endpoints.Forget(this);
    }

    /// <summary>Accepted messages are delivered within <paramref name="linger"/>, over this connection or the next.</summary>
    public void Close(DisconnectReason reason, TimeSpan linger)
    {
        lock (_gate)
        {
            if (_isClosing)
            {
                return;
            }

            _closeReason = reason;
            _linger = linger;
            _closedAt = _socket.Host.Time.GetTimestamp();
            Volatile.Write(ref _isClosing, true); // After these: a reader checks them first, and then this without the lock.
        }

        Link.Queue.Close();
        bool lingers = linger != TimeSpan.Zero && Link.Queue.Counts.QueuedMessages > 0; // After that: nothing more is accepted.
        if (lingers && linger != Timeout.InfiniteTimeSpan)
        {
            lock (_gate)
            {
                _deadline = _socket.Host.Time.CreateTimer(
                    static state => ((ZmpDialer)state!).OnDeadline(), this, linger, Timeout.InfiniteTimeSpan);
            }
        }

        Interlocked.MemoryBarrier(); // DeliverRemaining sets the link's session first, and then checks for a close.
        if (Link.Session is { } ready)
        {
            ready.Connection.RequestClose(reason, CloseMode.Orderly, linger);
        }
        else if (!lingers)
        {
            Abort();
        }
    }

    public void Abort()
    {
        lock (_gate)
        {
            _isClosing = true;
        }

        _stop.Cancel();
        ZmpSession? session;
        lock (_gate)
        {
            session = _session; // After the cancel: a new connection sees it, or is found here.
        }

        session?.Connection.RequestClose(_closeReason == DisconnectReason.Unknown ? DisconnectReason.Local : _closeReason, CloseMode.Leave);
    }

    /// <summary>
    /// Another peer took over the routing id: the dialer redials when the id is free. Otherwise the two peers would displace each other
    /// forever.
    /// </summary>
    public void YieldRoutingId(WireLink link, Func<Task> whenFree)
    {
        ZmpSession? session;
        lock (_gate)
        {
            if (_link != link)
            {
                return;
            }

            _whenFree = whenFree;
            session = _session;
        }

        _pause.Wake();
        session?.Connection.RequestClose(DisconnectReason.TakenOver, session.IsReady ? CloseMode.Orderly : CloseMode.Leave);
    }

    /// <summary>
    /// The handshake is complete while the socket or endpoint is being closed: the connection only delivers queued messages.
    /// </summary>
    public void DeliverRemaining(ZmpSession session)
    {
        session.Link.Session = session;
        Interlocked.MemoryBarrier(); // As in Close, in the opposite order.
        if (IsClosing)
        {
            session.Connection.RequestClose(_closeReason, CloseMode.Orderly, LingerLeft);
        }
    }

    /// <summary>A delivering connection has a deadline of its own; everything else ends.</summary>
    private void OnDeadline()
    {
        bool delivers;
        lock (_gate)
        {
            delivers = _session is { IsReady: true };
        }

        if (delivers)
        {
            _stop.Cancel();
        }
        else
        {
            Abort();
        }
    }

    private TimeSpan LingerLeft => _linger <= TimeSpan.Zero ? _linger
        : TimeSpan.FromTicks(Math.Max(0, (_linger - _socket.Host.Time.GetElapsedTime(_closedAt)).Ticks));

    private bool MayLinger => Link.Queue.Counts.QueuedMessages > 0 && LingerLeft != TimeSpan.Zero;

    private WireLink NewLink() => new(_socket, _settings)
    {
        Endpoint = _target.Redacted,
        IsActive = true,
        Alias = _settings.Alias,
        Dialer = this,
    };

    private async Task RunAsync()
    {
        // Leave the caller's stack: a name lookup may follow.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        string? gaveUp = null;
        try
        {
            if (!_predecessor.IsUnblocked)
            {
                Volatile.Write(ref _problem,
                    "it starts after the previous connection to this endpoint, which was disconnected, has sent its queue");
                await _predecessor.WaitAsync(_settings.Connection.CloseTimeout, _stop.Token).ConfigureAwait(false);
                Volatile.Write(ref _problem, null);
            }

            gaveUp = await DialUntilOverAsync().ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // The application asked for it.
        }
#pragma warning disable CA1031
        catch (Exception e)
#pragma warning restore CA1031
        {
            EndpointEvents.DialerFailed(_socket.Monitors, _socket.Host, _target.Redacted, e, Alias ?? []);
        }
        finally
        {
            End(gaveUp);
        }
    }

    private long? Writes
    {
        get
        {
            lock (_gate)
            {
                return _session?.Connection.Writes;
            }
        }
    }

    private async Task<string?> DialUntilOverAsync()
    {
        while (true)
        {
            if (Interlocked.Exchange(ref _whenFree, null) is { } whenFree)
            {
                if (_settings.Reconnect.IsOff)
                {
                    return IsClosing ? null : ReplacedText;
                }

                await BackOffAsync(whenFree).ConfigureAwait(false);
                _attempts.Forget();
            }

            (Wire? wire, string problem) = await _dialing.RunAsync(_stop.Token).ConfigureAwait(false);
            ZmpSession? session = wire is null ? null : await ServeAsync(wire).ConfigureAwait(false);
            if (IsClosing && !MayLinger)
            {
                return null;
            }

            bool isMutual = false;
            if (session is not null)
            {
                if (Volatile.Read(ref _whenFree) is not null)
                {
                    continue;
                }

                ConnectionOutcome verdict = _attempts.OnEnded(session);
                if (verdict.WhyNoFurther is { } why)
                {
                    return why;
                }

                (problem, isMutual) = (verdict.Problem, verdict.IsMutual);
            }

            if (IsClosing && _socket.Host.OwnEndpoints.IsGone(_target.Text))
            {
                return null;
            }

            if (_settings.Reconnect.IsOff)
            {
                return session is null ? problem : "the connection was lost, and reconnecting is off";
            }

            Volatile.Write(ref _problem, problem);
            _logged = session is { IsReady: true } && !_attempts.AreFailing ? null
                : EndpointEvents.Failed(_socket.Host, _target.Redacted, problem, _logged, _settings.Reconnect.IsByApplication);
            TimeSpan pause = isMutual ? _attempts.RandomPause : _attempts.NextPause();
            await _pause.RunAsync(token => EndpointEvents.PauseAsync(_socket.Monitors, _socket.Host, _target.Redacted, problem, pause,
                token, Alias ?? []), _stop.Token).ConfigureAwait(false);
        }
    }

    private async Task<ZmpSession> ServeAsync(Wire wire)
    {
        _attempts.OnConnected();
        ZmpSession session = Begin(wire);
        await session.Left.Task.ConfigureAwait(false);
        lock (_gate)
        {
            _session = null;
        }

        return session;
    }

    private async Task BackOffAsync(Func<Task> whenFree)
    {
        WireLink before = Link;
        WireLink next = NewLink(); // The old peer's messages are not for the next connection, which may come hours later.
        lock (_gate)
        {
            _link = next;
            _isLinkUsed = false;
        }

        Release(before);
        _pause.Forget();
        string problem = $"{ReplacedText}; it is dialled again when that peer has disconnected";
        Volatile.Write(ref _problem, problem);
        _logged = EndpointEvents.Failed(_socket.Host, _target.Redacted, problem, _logged);
        if (!_settings.Immediate && Alias is null)
        {
            // Attached as by Connect, so that it appears among the peers. A link with an alias would wait for itself.
            _socket.TryAttach(next, peer: null);
        }

        if (IsClosing)
        {
            throw new OperationCanceledException(); // A concurrent close may have seen the old link, with messages to linger for.
        }

        Task free = whenFree();
        do
        {
            await free.WaitAsync(_stop.Token).ConfigureAwait(false);

            // The other peer may return soon: it has lost its connection, and either may dial first.
            await EndpointEvents.PauseAsync(
                _socket.Monitors, _socket.Host, _target.Redacted, problem, _attempts.RandomPause, _stop.Token, Alias ?? [])
                .ConfigureAwait(false);
            free = whenFree();
        }
        while (!free.IsCompleted);
    }

    private ZmpSession Begin(Wire wire)
    {
        Interlocked.Increment(ref _socket.Counters.Dialled);
        _socket.Parts.Reenter();
        WireLink link = Link;
        if (_settings.Immediate && _isLinkUsed)
        {
            link = NewLink();
            lock (_gate)
            {
                _link = link;
            }
        }

        _isLinkUsed = true;
        var session = new ZmpSession(_socket, _settings, link, wire, _target.Redacted, listener: null);
        _lastClosed = session.Closed.Task;
        bool closing;
        lock (_gate)
        {
            _session = session;
            closing = _stop.IsCancellationRequested || _whenFree is not null;
        }

        if (!wire.HadHandshake)
        {
            _socket.Events.Publish(SocketEventTypes.Connected, wire.Handle, session, detail: null);
        }

        _socket.Endpoints.Track(session);
        session.Start();
        if (closing)
        {
            session.Connection.RequestClose(DisconnectReason.Local, CloseMode.Abort);
        }

        return session;
    }

    public bool IsClosing => Volatile.Read(ref _isClosing);

    private void End(string? gaveUp)
    {
        _deadline?.Dispose();
        if (gaveUp is not null)
        {
            // First: a reader of the event may reconnect at once.
            _socket.GivenUp.Add(Text, gaveUp);
            _socket.Endpoints.Forget(this);
            _socket.Detach(Link, dropUnread: false);
            EndpointEvents.GivenUp(_socket.Monitors, _socket.Host, _target.Redacted, Alias ?? [], gaveUp);
        }

        Drop();
        _ = EndAsync(_lastClosed);
        _socket.Parts.Leave();
    }

    /// <summary>Waits for the peer's end as well: before that the peer may reject another connection with the same routing id.</summary>
    private async Task EndAsync(Task lastClosed)
    {
        await lastClosed.ConfigureAwait(false);
        _predecessor.End();
        _socket.Endpoints.Forget(this);
    }

    public void Drop()
    {
        _socket.Endpoints.Forget(this);
        Release(Link);
    }

    private void Release(WireLink link)
    {
        _socket.Detach(link, dropUnread: false);
        link.Queue.Abandon();
        _socket.FinalizeCounters(link);
    }
}
