using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>One outgoing endpoint of a ZMP socket: dials, and dials again after a loss, with the pipe that outlives its connections
/// (docs/protocol.md, reconnecting).</summary>
/// <remarks>
/// A lost connection, a timeout or a refused dial is tried again after the pause that the options name. A protocol fault, seen here or told
/// by the peer's ERROR, ends the endpoint for good, since the next connection would meet the same; except the ERROR codes that say no more
/// than that a timer ran out over there, after which the pauses grow.
/// </remarks>
internal sealed class ZmpDialer
{
    private const string ReplacedText = "another peer took over its routing id";

    private readonly SocketCore _socket;
    private readonly ConnectTarget _target;
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
    private bool _isPipeUsed;
    private Func<Task>? _whenFree;
    private string? _problem;
    private string? _logged; // The failure that the log has heard of last; null again once a connection was ready.
    private ITimer? _deadline;
    private Task _lastClosed = Task.CompletedTask;

    /// <param name="socket">The socket it belongs to.</param>
    /// <param name="target">What it dials.</param>
    /// <param name="settings">Its options.</param>
    /// <param name="before">The last one of the same endpoint that may deliver yet what it was given; null: there is none.</param>
    public ZmpDialer(SocketCore socket, ConnectTarget target, ZmpSettings settings, ZmpDialer? before)
    {
        _socket = socket;
        _target = target;
        _settings = settings;
        _dialing = new ConnectStep(socket, target, settings.Transport);
        _attempts = new ConnectAttempts(settings.Reconnect, settings.ReconnectAfterFault);
        _predecessor = new PredecessorWait(before?._predecessor, socket.Host.Time, () => Writes);
        _link = NewLink();
    }

    /// <summary>The endpoint as it was given to Connect.</summary>
    public string Text => _target.Text;

    /// <summary>The same, parsed.</summary>
    public ConnectTarget Target => _target;

    /// <summary>What the socket calls the peer; null: as it calls itself.</summary>
    public byte[]? Alias => _settings.Alias;

    /// <summary>The pipe that messages go to; with IMMEDIATE the one of the present attempt.</summary>
    public WireLink Pipe => Volatile.Read(ref _link);

    /// <summary>Why the last attempt failed, or the last connection ended, for people; null before.</summary>
    public string? Problem => Volatile.Read(ref _problem);

    /// <summary>Completes when it makes no connection any more, and the last one is over.</summary>
    public Task Over => _predecessor.Completion;

    /// <summary>Begins to dial. The socket has been entered on the dialer's behalf.</summary>
    public void Start()
    {
        _socket.GivenUp.Forget(_target.Text);
        _ = DefaultContext.Run(RunAsync);
    }

    /// <summary>The socket has no place for it: it is never started, and nobody is to wait for it, be it that it was disconnected in this
    /// moment.</summary>
    public void Discard()
    {
        _predecessor.End();
        _socket.Endpoints.Forget(this);
    }

    /// <summary>Ends the endpoint: what was accepted is delivered within <paramref name="linger"/>, over this connection or the
    /// next.</summary>
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
            Volatile.Write(ref _isClosing, true); // Behind these: who looks at them first looks at this, without the lock.
        }

        Pipe.Queue.Close();
        bool lingers = linger != TimeSpan.Zero && Pipe.Queue.Counts.QueuedMessages > 0; // Behind that: nothing more is accepted.
        if (lingers && linger != Timeout.InfiniteTimeSpan)
        {
            lock (_gate)
            {
                _deadline = _socket.Host.Time.CreateTimer(
                    static state => ((ZmpDialer)state!).OnDeadline(), this, linger, Timeout.InfiniteTimeSpan);
            }
        }

        Interlocked.MemoryBarrier(); // DeliverRest sets the pipe's session first, and then looks whether we close.
        if (Pipe.Session is { } ready)
        {
            ready.Connection.RequestClose(reason, CloseMode.Orderly, linger);
        }
        else if (!lingers)
        {
            Abort();
        }
    }

    /// <summary>Ends it now.</summary>
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
            session = _session; // Behind the cancel: a connection that begins finds that, or is found here.
        }

        session?.Connection.RequestClose(_closeReason == DisconnectReason.Unknown ? DisconnectReason.Local : _closeReason, CloseMode.Leave);
    }

    /// <summary>
    /// Another peer has taken over the routing id here (ROUTER with Handover). What waits for this one is dropped, its connection is ended,
    /// and it dials again when the id is free: sooner the two would take it from each other for good.
    /// Outside of the socket's lock, when its pipe has no place any more.
    /// </summary>
    /// <param name="link">The pipe that had the id.</param>
    /// <param name="whenFree">Completes when nobody has it.</param>
    public void YieldRoutingId(WireLink link, Func<Task> whenFree)
    {
        ZmpSession? session;
        lock (_gate)
        {
            if (_link != link)
            {
                return; // It has given way already.
            }

            _whenFree = whenFree;
            session = _session;
        }

        _pause.Wake();
        session?.Connection.RequestClose(DisconnectReason.TakenOver, session.IsReady ? CloseMode.Orderly : CloseMode.Leave);
    }

    /// <summary>The handshake is complete, and the socket or the endpoint is being closed: the connection only delivers what is left.
    /// Before <see cref="Close"/>, that finds the session.</summary>
    public void DeliverRemaining(ZmpSession session)
    {
        session.Pipe.Session = session;
        Interlocked.MemoryBarrier(); // As in Close, the other way round.
        if (IsClosing)
        {
            session.Connection.RequestClose(_closeReason, CloseMode.Orderly, LingerLeft);
        }
    }

    /// <summary>The linger time is over. A connection that delivers has a time of its own, which began with it or ends now; whatever else
    /// is going on ends.</summary>
    private void OnDeadline()
    {
        bool delivers;
        lock (_gate)
        {
            delivers = _session is { IsReady: true }; // The pipe lets go of its session as soon as that closes.
        }

        if (delivers)
        {
            _stop.Cancel(); // No further connection.
        }
        else
        {
            Abort();
        }
    }

    private TimeSpan LingerLeft => _linger <= TimeSpan.Zero ? _linger
        : TimeSpan.FromTicks(Math.Max(0, (_linger - _socket.Host.Time.GetElapsedTime(_closedAt)).Ticks));

    private bool MayLinger => Pipe.Queue.Counts.QueuedMessages > 0 && LingerLeft != TimeSpan.Zero;

    private WireLink NewLink() => new(_socket, _settings)
    {
        Endpoint = _target.Text,
        IsActive = true,
        Alias = _settings.Alias,
        Dialer = this,
    };

    private async Task RunAsync()
    {
        // Off the caller's stack: a name may have to be looked up.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        string? gaveUp = null;
        try
        {
            if (!_predecessor.IsUnblocked)
            {
                Volatile.Write(ref _problem,
                    "it begins when the connect of this endpoint that was let go of before has delivered what it had");
                await _predecessor.WaitAsync(_settings.Connection.CloseTimeout, _stop.Token).ConfigureAwait(false);
                Volatile.Write(ref _problem, null);
            }

            gaveUp = await DialUntilOverAsync().ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // It is the application's wish.
        }
#pragma warning disable CA1031 // Nobody awaits this: an endpoint that is no more must not go without a word.
        catch (Exception e)
#pragma warning restore CA1031
        {
            EndpointEvents.DialerFailed(_socket.Monitors, _socket.Host, _target.Text, e);
        }
        finally
        {
            End(gaveUp);
        }
    }

    /// <summary>How often its connection has written; null while it has none: then this endpoint has nobody to talk to, whoever
    /// dials.</summary>
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

    /// <summary>Returns why no further attempt is made, or null if that is the application's wish.</summary>
    private async Task<string?> DialUntilOverAsync()
    {
        while (true)
        {
            if (Interlocked.Exchange(ref _whenFree, null) is { } whenFree)
            {
                if (_settings.Reconnect.Interval <= TimeSpan.Zero)
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

            bool comesApart = false;
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

                (problem, comesApart) = (verdict.Problem, verdict.ComesApart);
            }

            if (IsClosing && _socket.Host.OwnEndpoints.IsGone(_target.Text))
            {
                return null;
            }

            if (_settings.Reconnect.Interval <= TimeSpan.Zero)
            {
                return session is null ? problem : "the connection is lost and no reconnecting was asked for";
            }

            Volatile.Write(ref _problem, problem);
            _logged = session is { IsReady: true } && !_attempts.HaveFailed ? null
                : EndpointEvents.Failed(_socket.Host, _target.Text, problem, _logged);
            TimeSpan pause = comesApart ? _attempts.PauseApart : _attempts.NextPause();
            await _pause.RunAsync(token => EndpointEvents.PauseAsync(_socket.Monitors, _socket.Host, _target.Text, problem, pause, token),
                _stop.Token).ConfigureAwait(false);
        }
    }

    /// <summary>One connection, from its first byte until nothing more comes of it.</summary>
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

    /// <summary>Another peer has the routing id: waits until nobody has.</summary>
    private async Task BackOffAsync(Func<Task> whenFree)
    {
        WireLink before = Pipe;
        WireLink next = NewLink(); // What waited for the old one is not the next connection's: that may be hours away.
        lock (_gate)
        {
            _link = next;
            _isPipeUsed = false;
        }

        Release(before);
        _pause.Forget();
        string problem = $"{ReplacedText}; it is dialled again when that one has gone";
        Volatile.Write(ref _problem, problem);
        _logged = EndpointEvents.Failed(_socket.Host, _target.Text, problem, _logged);
        if (!_settings.Immediate && Alias is null)
        {
            // As Connect does, so that it is seen among the peers. One with a name of ours would wait for itself.
            _socket.TryAttach(next, peer: null);
        }

        if (IsClosing)
        {
            throw new OperationCanceledException(); // Who closed it may have seen the old pipe, and messages to linger for.
        }

        Task free = whenFree();
        do
        {
            await free.WaitAsync(_stop.Token).ConfigureAwait(false);

            // The other one may be back in a moment: it has lost its connection, and who dials first matters to none of the two.
            await EndpointEvents.PauseAsync(_socket.Monitors, _socket.Host, _target.Text, problem, _attempts.PauseApart, _stop.Token)
                .ConfigureAwait(false);
            free = whenFree();
        }
        while (!free.IsCompleted);
    }

    private ZmpSession Begin(Wire wire)
    {
        Interlocked.Increment(ref _socket.Counters.Dialled);
        _socket.EnterAgain();
        WireLink link = Pipe;
        if (_settings.Immediate && _isPipeUsed)
        {
            // The last one ended with its connection, be it in the handshake.
            link = NewLink();
            lock (_gate)
            {
                _link = link;
            }
        }

        _isPipeUsed = true;
        var session = new ZmpSession(_socket, _settings, link, wire, _target.Text, listener: null);
        _lastClosed = session.Closed.Task;
        bool closing;
        lock (_gate)
        {
            _session = session;
            closing = _stop.IsCancellationRequested || _whenFree is not null;
        }

        if (!wire.HadHandshake)
        {
            _socket.Events.Publish(SocketEventTypes.Connected, wire.Socket.Handle, session, detail: null);
        }

        _socket.Endpoints.Track(session);
        session.Start();
        if (closing)
        {
            session.Connection.RequestClose(DisconnectReason.Local, CloseMode.Abort);
        }

        return session;
    }

    /// <summary>The application has let go of the endpoint.</summary>
    public bool IsClosing => Volatile.Read(ref _isClosing);

    private void End(string? gaveUp)
    {
        _deadline?.Dispose();
        if (gaveUp is not null)
        {
            // First: whoever hears that it is given up may connect anew at once.
            _socket.GivenUp.Add(_target.Text, gaveUp);
            _socket.Endpoints.Forget(this);
            _socket.Detach(Pipe, dropUnread: false);
            EndpointEvents.GivenUp(_socket.Monitors, _socket.Host, _target.Text, gaveUp);
        }

        Drop();
        _ = EndAsync(_lastClosed);
        _socket.Leave();
    }

    /// <summary>Over is more than that nothing is written any more: until the peer has noticed its end, it may have no place for another
    /// connection of the same routing id.</summary>
    private async Task EndAsync(Task lastClosed)
    {
        await lastClosed.ConfigureAwait(false);
        _predecessor.End();
        _socket.Endpoints.Forget(this);
    }

    /// <summary>Lets go of the pipe and of what waits in it.</summary>
    public void Drop()
    {
        _socket.Endpoints.Forget(this);
        Release(Pipe);
    }

    private void Release(WireLink link)
    {
        _socket.Detach(link, dropUnread: false);
        link.Queue.Abandon();
        _socket.FinalizeCounters(link);
    }
}
