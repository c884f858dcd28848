using System.Net.Sockets;
using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary><paramref name="Name"/>: what the application calls the peer; empty if it has given it no name.</summary>
internal sealed record DialerSettings(TransportSettings Transport, ReconnectPolicy Reconnect, TimeSpan CloseTimeout,
    bool RetriesFaults = false, bool IsAwaited = false, RoutingId Name = default);

/// <summary>
/// Runs one <see cref="Dialer"/>: passes it events, and executes its commands one after another, on the thread of the event that finds no
/// other at it. Thread-safe. Who starts or aborts it has entered the socket for it.
/// </summary>
internal sealed class DialerLoop(EndpointTable table, WireEndpoint target, DialerSettings settings, IConnecter connecter)
{
    private readonly Dialer _dialer = new(settings.Reconnect, settings.RetriesFaults, settings.IsAwaited, Random.Shared.NextDouble);
    private readonly Lock _gate = new();

    // Shared by all attempts, because it keeps the certificates of the last complete files.
    private readonly WireUpgrade? _upgrade = target.DialUpgrade(settings.Transport);
    private PredecessorWait? _turn;
    private CancellationTokenSource _step = new();
    private ITimer? _deadline;
    private Wire? _wire;
    private Func<Task>? _whenFree;
    private TimeSpan? _linger;
    private long _closedAt;
    private string? _logged;
    private bool _isExecuting;

    public WireEndpoint Target => target;

    public string Text => target.Text;

    public RoutingId Name => settings.Name;

    public IConnecter Connecter => connecter;

    public DialResult LastFailure { get; private set; } = new(null, SocketError.OperationAborted, UpgradeResult.Cancelled.Sentence);

    public string? Problem => _dialer.Problem;

    public bool IsClosing => _dialer.IsClosing;

    /// <summary>It makes no connection any more, and the last one has ended.</summary>
    public bool IsOver => _turn is { Completion.IsCompleted: true };

    /// <summary>Before the start: it begins after one of the same endpoint that still delivers.</summary>
    public void Follow(DialerLoop? before) => _turn = new PredecessorWait(before?._turn, table.Host.Time, () => Writes);

    public void Start() => Post(() => _dialer.Start(hasPredecessor: _turn is { IsUnblocked: false }));

    /// <summary>Accepted messages are delivered within <paramref name="linger"/>, over this connection or the next.</summary>
    public void Close(DisconnectReason reason, TimeSpan? linger)
    {
        if (IsClosing)
        {
            return;
        }

        connecter.Close();
        bool delivers = linger != TimeSpan.Zero && connecter.HasQueued; // After that: nothing more is accepted.
        Post(() =>
        {
            if (!IsClosing)
            {
                (_linger, _closedAt) = (linger, table.Host.Time.GetTimestamp());
                _dialer.Close(reason, delivers);
            }
        });
    }

    public void Abort() => Post(_dialer.Abort);

    /// <summary>Has no effect on a connection.</summary>
    public void CancelAttempt() => Post(_dialer.CancelAttempt);

    /// <inheritdoc cref="Dialer.YieldRoutingId"/>
    public void YieldRoutingId(Func<Task> whenFree) => Post(() =>
    {
        _whenFree = whenFree;
        _dialer.YieldRoutingId();
    });

    /// <inheritdoc cref="Dialer.OnReady"/>
    public bool OnReady()
    {
        bool isToStay = false;
        Post(() => isToStay = _dialer.OnReady());
        return isToStay;
    }

    /// <inheritdoc cref="Dialer.OnEnded"/>
    public void OnEnded(ConnectionEnd end)
    {
        bool hasWork = HasWork;
        Post(() => _dialer.OnEnded(end, hasWork));
    }

    /// <inheritdoc cref="Dialer.OnClosed"/>
    public void OnClosed() => Post(_dialer.OnClosed);

    private bool HasWork => connecter.HasQueued && !table.Host.OwnEndpoints.IsGone(Text);

    private long? Writes
    {
        get
        {
            lock (_gate)
            {
                return _dialer.State is DialerState.Handshaking or DialerState.Ready ? connecter.Writes : null;
            }
        }
    }

    private TimeSpan? LingerLeft => _linger is not { } linger || linger <= TimeSpan.Zero ? _linger
        : TimeSpan.FromTicks(Math.Max(0, (linger - table.Host.Time.GetElapsedTime(_closedAt)).Ticks));

    private void Post(Action happened)
    {
        lock (_gate)
        {
            happened();
            if (_isExecuting || _dialer.Commands.Count == 0)
            {
                return;
            }

            _isExecuting = true;
        }

        // What it starts outlives the call, and keeps the context of its start.
        DefaultContext.Run(static loop => ((DialerLoop)loop!).ExecuteAll(), this);
    }

    private void ExecuteAll()
    {
        while (true)
        {
            DialerCommand command;
            lock (_gate)
            {
                if (!_dialer.Commands.TryDequeue(out command))
                {
                    _isExecuting = false;
                    return;
                }
            }

            try
            {
                Execute(command);
            }
            catch (Exception e)
            {
                Fail(e);
            }
        }
    }

    private void Execute(in DialerCommand command)
    {
        switch (command.Action)
        {
            case DialerAction.AwaitTurn:
                _ = AwaitAsync(_turn!.WaitAsync(settings.CloseTimeout, NextStep()));
                break;
            case DialerAction.AwaitRoutingId:
                _ = AwaitAsync(_whenFree!().WaitAsync(NextStep()));
                break;
            case DialerAction.Pause:
                Pause(command);
                break;
            case DialerAction.Dial:
                _ = DialAsync(NextStep());
                break;
            case DialerAction.Serve:
                Serve();
                break;
            case DialerAction.Renew:
                Report(command.Text);
                if (!connecter.Renew())
                {
                    Abort();
                }

                break;
            case DialerAction.CloseConnection:
                connecter.RequestClose(command.Reason, command.Mode,
                    command.Reason == DisconnectReason.TakenOver ? null : LingerLeft);
                break;
            case DialerAction.CancelStep:
                _step.Cancel();
                break;
            case DialerAction.ArmDeadline:
                if (_linger is { } linger && linger != Timeout.InfiniteTimeSpan)
                {
                    _deadline = table.Host.Time.CreateTimer(_ => Post(_dialer.OnDeadline), null, linger, Timeout.InfiniteTimeSpan);
                }

                break;
            case DialerAction.End:
                _deadline?.Dispose();
                table.Forget(this);
                connecter.Release(command.Text);
                table.Parts.Leave();
                break;
            default:
                _turn?.End();
                table.Forget(this);
                break;
        }
    }

    private CancellationToken NextStep() => (_step = new CancellationTokenSource()).Token;

    private async Task AwaitAsync(Task wait)
    {
        await wait.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        bool isIdFree = !_dialer.AwaitsRoutingId || _whenFree!().IsCompleted;
        Post(() => _dialer.OnWaited(isIdFree));
    }

    private void Pause(in DialerCommand command)
    {
        if (command.IsLogged)
        {
            Report(command.Text);
        }
        else
        {
            _logged = null;
        }

        // Begun before the event: its reader may move a test clock.
        Task pause = Task.Delay(command.Pause, table.Host.Time, NextStep());
        EndpointEvents.Retried(table.Monitors, target.Redacted, command.Text, command.Pause, Name);
        _ = AwaitAsync(pause);
    }

    private async Task DialAsync(CancellationToken ended)
    {
        try
        {
            DialResult result = await ConnectAsync(ended).ConfigureAwait(false);
            if (result.Wire is not { } wire)
            {
                LastFailure = result;
                OnEnded(new ConnectionEnd(result.Sentence));
                return;
            }

            bool isWanted = false;
            _wire = wire;
            Post(() => isWanted = _dialer.OnDialled());
            if (!isWanted)
            {
                wire.Dispose();
            }
        }
        catch (Exception e)
        {
            Fail(e);
        }
    }

    private async Task<DialResult> ConnectAsync(CancellationToken ended)
    {
        // As in the native core each attempt is reported as delayed; a failed name lookup is no attempt.
        DialResult result = await target.DialAsync(settings.Transport, table.Host.Time,
            () => table.Monitors.Publish(SocketEventTypes.ConnectDelayed, 0, "", target.Redacted), ended).ConfigureAwait(false);
        if (result.Wire is not { } wire)
        {
            if (!ended.IsCancellationRequested && result.Error is not (SocketError.HostNotFound or SocketError.NoData
                or SocketError.TryAgain or SocketError.NoRecovery))
            {
                table.Monitors.Publish(SocketEventTypes.Closed, 0, "", target.Redacted, detail: result.Sentence);
            }

            return result;
        }

        Interlocked.Increment(ref table.Counters.Dialled);
        if (_upgrade is null)
        {
            return result;
        }

        // A failure counts like a failed dial: the pauses grow, because the next attempt probably fails too.
        UpgradeResult upgraded = await TransportHandshake.ConnectAsync(_upgrade, wire, target, table.Host, table.Monitors, ended)
            .ConfigureAwait(false);
        if (upgraded.Wire is null && !ended.IsCancellationRequested)
        {
            table.Counters.FailedHandshakes.Count(upgraded.Cause);
        }

        return new DialResult(upgraded.Wire, upgraded.Error, upgraded.Sentence);
    }

    private void Serve()
    {
        if (!connecter.Begin(_wire!))
        {
            LastFailure = new DialResult(null, SocketError.ConnectionReset, "the connection was reset at once");
            OnEnded(new ConnectionEnd(LastFailure.Sentence));
            OnClosed();
        }
    }

    private void Report(string problem)
    {
        if (settings.Reconnect.IsByApplication)
        {
            Log.AttemptFailed(table.Host.Logger, target.Redacted, problem); // The application sees the event, and may dial thousands.
        }
        else if (!string.Equals(problem, _logged, StringComparison.Ordinal))
        {
            Log.CannotConnect(table.Host.Logger, target.Redacted, problem);
        }

        _logged = problem;
    }

    /// <summary>Nothing awaits a dialer, so this is its only report.</summary>
    private void Fail(Exception exception)
    {
        EndpointEvents.GivenUp(table.Monitors, table.Host, target.Redacted, Name,
            $"an internal fault, please report it: {ExceptionText.Of(exception)}");
        Post(_dialer.OnFault);
    }
}

/// <summary>What becomes of the connections that a dialer makes. The dialer calls one member at a time, but for those marked so.</summary>
internal interface IConnecter
{
    /// <summary>Messages are queued. Any thread.</summary>
    bool HasQueued => false;

    /// <summary>Of the last connection. Any thread.</summary>
    long? Writes => null;

    /// <summary>Serves the wire, and tells the dialer of the handshake and the end. False: it was reset at once, and is disposed.</summary>
    bool Begin(Wire wire);

    void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger);

    /// <summary>Accepts nothing more. Any thread.</summary>
    void Close()
    {
    }

    /// <summary>The peer is another one from now on: what is queued is not for it. False after the close.</summary>
    bool Renew() => false;

    /// <summary>No further connection comes. <paramref name="why"/>: the dialer gave up; empty: it was closed.</summary>
    void Release(string why);
}

/// <summary>What a STREAM connection comes from: a listener, or a connect.</summary>
internal interface IConnectionOrigin
{
    void OnConnectionEnded(DisconnectReason reason);
}
