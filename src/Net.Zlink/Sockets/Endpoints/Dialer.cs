using Net.Zlink.Engine;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary>In the order of docs/protocol.md section 20, which has the table of states and events.</summary>
internal enum DialerState
{
    /// <summary>It has not begun, or is over and has no connection any more.</summary>
    Idle,

    /// <summary>For its turn, for the next attempt, or for its routing id.</summary>
    Waiting,

    Connecting,
    Handshaking,
    Ready,

    /// <summary>It dials no more; a step or a connection has yet to end.</summary>
    Ending,
}

/// <summary>What a dialer does when: a state machine without wires, clock and chance. Events come in, commands go out.</summary>
/// <remarks>
/// A step is a wait, a pause or an attempt. At most one is under way, and each answers once, also when it is cancelled. Not thread-safe.
/// </remarks>
/// <param name="policy">The pauses between attempts.</param>
/// <param name="retriesFaults">A fault does not end the endpoint.</param>
/// <param name="isAwaited">The application waits for the first attempt: its failure is reported there, and ends the dialer.</param>
/// <param name="jitter">From 0 to 1, another one each time.</param>
internal sealed class Dialer(ReconnectPolicy policy, bool retriesFaults, bool isAwaited, Func<double> jitter)
{
    private const string WaitsForTurn =
        "it starts after the previous connection to this endpoint, which was disconnected, has sent its queue";

    private const string ReplacedText = "another peer took over its routing id";

    private const int BriefConnections = 3;

    // After an ERROR that reports a timer, the peer is alive: pauses double from the interval up to this, so a peer in trouble is not
    // hammered.
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(30);

    private readonly ReconnectPolicy _slowly = policy with
    {
        MaxInterval = policy.MaxInterval > TimeSpan.Zero ? policy.MaxInterval
            : policy.Interval > LongestPause ? policy.Interval : LongestPause,
    };

    // A peer that dials this side for the same reason must not do so at the same moment each time.
    private readonly ReconnectPolicy _random = policy with { MaxInterval = TimeSpan.Zero };
    private DialerAction _wait;
    private DisconnectReason _closeReason = DisconnectReason.Local;
    private bool _hasBeenReady;
    private bool _mustYield;
    private bool _awaitsId;
    private bool _delivers;
    private bool _isOver;
    private int _attempts;
    private int _faults;
    private int _brief;
    private int _connections;

    /// <summary>Pending commands, in order.</summary>
    public Queue<DialerCommand> Commands { get; } = new();

    public DialerState State { get; private set; }

    /// <summary>The application has disconnected it, or closes the socket.</summary>
    public bool IsClosing { get; private set; }

    /// <summary>Why it is not connected.</summary>
    public string? Problem { get; private set; }

    public bool AwaitsRoutingId => State == DialerState.Waiting && _awaitsId;

    private bool AreConnectionsBrief => _brief >= BriefConnections;

    public void Start(bool hasPredecessor = false)
    {
        if (State != DialerState.Idle || _isOver)
        {
            return;
        }

        if (hasPredecessor)
        {
            Wait(DialerAction.AwaitTurn, WaitsForTurn);
        }
        else
        {
            Dial();
        }
    }

    /// <summary>A wait or a pause is over, or was cancelled.</summary>
    public void OnWaited(bool isIdFree = true)
    {
        if (State == DialerState.Ending)
        {
            Over();
        }
        else if (State != DialerState.Waiting)
        {
            return;
        }
        else if (_mustYield)
        {
            YieldNow();
        }
        else if (_wait == DialerAction.AwaitRoutingId)
        {
            // The other peer may return soon: it has lost its connection, and either may dial first.
            Pause(Problem!, _random.PauseBefore(0, jitter()));
        }
        else if (_awaitsId && !isIdFree)
        {
            Wait(DialerAction.AwaitRoutingId, Problem!);
        }
        else
        {
            if (_awaitsId)
            {
                (_awaitsId, _attempts, _faults, _brief) = (false, 0, 0, 0);
            }

            Dial();
        }
    }

    /// <summary>An attempt has made a wire. False: it is not wanted any more.</summary>
    public bool OnDialled()
    {
        bool isWanted = State == DialerState.Connecting && !_mustYield;
        if (isWanted)
        {
            _attempts = 0;
            _connections++;
            State = DialerState.Handshaking;
            Add(new DialerCommand(DialerAction.Serve));
        }
        else if (State == DialerState.Ending)
        {
            Over();
        }
        else if (State == DialerState.Connecting)
        {
            YieldNow();
        }

        return isWanted;
    }

    /// <summary>False: the connection only delivers what is queued.</summary>
    public bool OnReady()
    {
        if (State == DialerState.Handshaking)
        {
            State = DialerState.Ready;
            Problem = null;
            _hasBeenReady = true;
            if (IsClosing)
            {
                CloseConnection(_closeReason, CloseMode.Orderly);
            }
        }

        return !IsClosing;
    }

    /// <summary>Nothing more is written to the connection; or an attempt to make one has failed, or was cancelled.</summary>
    /// <param name="end">How.</param>
    /// <param name="hasWork">Messages are queued that a peer may still get.</param>
    public void OnEnded(in ConnectionEnd end, bool hasWork)
    {
        _hasBeenReady |= end.WasReady;
        if (State == DialerState.Ending)
        {
            Over();
        }
        else if (State is DialerState.Connecting or DialerState.Handshaking or DialerState.Ready)
        {
            Continue(end, hasWork);
        }
    }

    /// <summary>The peer has ended its side, too.</summary>
    public void OnClosed()
    {
        _connections--;
        SettleIfOver();
    }

    /// <summary>
    /// Another peer took over the routing id: it is dialled again when the id is free. Otherwise the two peers would displace each other
    /// forever.
    /// </summary>
    public void YieldRoutingId()
    {
        if (State is DialerState.Idle or DialerState.Ending || _mustYield || _awaitsId)
        {
            return;
        }

        _mustYield = true;
        if (State is DialerState.Handshaking or DialerState.Ready)
        {
            CloseConnection(DisconnectReason.TakenOver, State == DialerState.Ready ? CloseMode.Orderly : CloseMode.Leave);
        }
        else if (State == DialerState.Waiting && _wait == DialerAction.Pause)
        {
            Add(new DialerCommand(DialerAction.CancelStep));
        }
    }

    /// <summary><paramref name="delivers"/>: what is queued goes out over this connection or the next.</summary>
    public void Close(DisconnectReason reason, bool delivers)
    {
        if (IsClosing)
        {
            return;
        }

        (IsClosing, _closeReason, _delivers) = (true, reason, delivers);
        if (delivers)
        {
            Add(new DialerCommand(DialerAction.ArmDeadline));
        }

        if (State == DialerState.Ready)
        {
            CloseConnection(reason, CloseMode.Orderly);
        }
        else if (!delivers)
        {
            Abort();
        }
    }

    /// <summary>The linger time is over. A connection that delivers has a deadline of its own.</summary>
    public void OnDeadline()
    {
        _delivers = false;
        if (State != DialerState.Ready)
        {
            Abort();
        }
    }

    /// <summary>The application no longer waits for the first attempt.</summary>
    public void CancelAttempt()
    {
        if (State is not (DialerState.Handshaking or DialerState.Ready))
        {
            Abort();
        }
    }

    public void Abort()
    {
        IsClosing = true;
        switch (State)
        {
            case DialerState.Idle:
                Over();
                break;
            case DialerState.Waiting or DialerState.Connecting:
                State = DialerState.Ending;
                Add(new DialerCommand(DialerAction.CancelStep));
                break;
            case DialerState.Handshaking or DialerState.Ready:
                State = DialerState.Ending;
                CloseConnection(_closeReason, CloseMode.Leave);
                break;
            default:
                break;
        }
    }

    /// <summary>A command could not be executed. That is a fault of this library, and has been reported.</summary>
    public void OnFault()
    {
        Commands.Clear();
        _connections = 0; // One that was only half made never ends.
        Over();
    }

    private void Continue(in ConnectionEnd end, bool hasWork)
    {
        string? why = end.WhyNoFurther is { } fault && (end.IsFinal || !retriesFaults) ? fault
            : !policy.IsOff ? null
            : end.WasReady ? "the connection was lost, and reconnecting is off" : end.Problem;
        if ((IsClosing && !(_delivers && hasWork)) || (isAwaited && !_hasBeenReady))
        {
            Over();
        }
        else if (_mustYield)
        {
            YieldNow();
        }
        else if (why is not null)
        {
            Over(why);
        }
        else
        {
            string problem = Count(end);
            TimeSpan pause = end.IsMutual ? _random.PauseBefore(0, jitter())
                : _faults > 0 ? _slowly.PauseBefore(_faults, jitter())
                : policy.PauseBefore(_attempts++, jitter());
            Pause(problem, pause, isLogged: !end.WasReady || AreConnectionsBrief || _faults > 1);
        }
    }

    /// <summary>Returns the problem to report.</summary>
    private string Count(in ConnectionEnd end)
    {
        // A connection that was shorter may end for the same reason each time: a publisher reports too many topics only after it has
        // accepted all that it allows, which can take seconds.
        bool hasStood = end.ReadyFor >= _slowly.MaxInterval;
        _faults = !end.IsFault ? 0 : hasStood ? 1 : _faults + 1;
        _brief = end.WasBrief ? _brief + 1 : 0;
        return !AreConnectionsBrief ? end.Problem
            : $"{end.Problem}, right after the handshake, {BriefConnections} times or more: the peer may refuse this socket, "
                + $"because its routing id is in use there, or because it is a PAIR with a peer. Messages wait until it accepts";
    }

    private void YieldNow()
    {
        _mustYield = false;
        if (IsClosing)
        {
            Over();
        }
        else if (policy.IsOff)
        {
            Over(ReplacedText);
        }
        else
        {
            _awaitsId = true;
            string problem = $"{ReplacedText}; it is dialled again when that peer has disconnected";
            Add(new DialerCommand(DialerAction.Renew, problem));
            Wait(DialerAction.AwaitRoutingId, problem);
        }
    }

    private void Dial()
    {
        State = DialerState.Connecting;
        Add(new DialerCommand(DialerAction.Dial));
    }

    private void Wait(DialerAction what, string problem)
    {
        (State, _wait, Problem) = (DialerState.Waiting, what, problem);
        Add(new DialerCommand(what));
    }

    private void Pause(string problem, TimeSpan pause, bool isLogged = true)
    {
        (State, _wait, Problem) = (DialerState.Waiting, DialerAction.Pause, problem);
        Add(new DialerCommand(DialerAction.Pause, problem, pause, isLogged));
    }

    private void CloseConnection(DisconnectReason reason, CloseMode mode) =>
        Add(new DialerCommand(DialerAction.CloseConnection, Reason: reason, Mode: mode));

    /// <summary><paramref name="why"/>: it gave up.</summary>
    private void Over(string why = "")
    {
        if (!_isOver)
        {
            _isOver = true;
            State = DialerState.Ending;
            Add(new DialerCommand(DialerAction.End, why));
            SettleIfOver();
        }
    }

    private void SettleIfOver()
    {
        if (_isOver && _connections == 0)
        {
            State = DialerState.Idle;
            Add(new DialerCommand(DialerAction.Settle));
        }
    }

    private void Add(in DialerCommand command) => Commands.Enqueue(command);
}

internal enum DialerAction
{
    AwaitTurn,
    AwaitRoutingId,
    Pause,
    Dial,
    Serve,
    Renew,
    CloseConnection,
    CancelStep,
    ArmDeadline,
    End,
    Settle,
}

/// <param name="Action">What to do.</param>
/// <param name="Text">Why.</param>
/// <param name="Pause">How long.</param>
/// <param name="IsLogged">The reason is a failure, and not only the end of a connection that was ready.</param>
/// <param name="Reason">Why the connection is closed.</param>
/// <param name="Mode">How.</param>
internal readonly record struct DialerCommand(DialerAction Action, string Text = "", TimeSpan Pause = default, bool IsLogged = false,
    DisconnectReason Reason = default, CloseMode Mode = default);

/// <summary>How a connection, or an attempt to make one, ended.</summary>
/// <param name="Problem">What happened, for logs and events.</param>
/// <param name="WasReady">It was not only an attempt.</param>
/// <param name="ReadyFor">How long it was ready.</param>
/// <param name="WasBrief">The peer ended it right after the handshake.</param>
/// <param name="IsFault">A fault of either side, after which the pauses grow.</param>
/// <param name="WhyNoFurther">The next connection would meet the same again: why none is made, unless faults are retried.</param>
/// <param name="IsFinal">None is made, however faults are treated.</param>
/// <param name="IsMutual">The peer does the same for the same reason, so the next pause has a random part.</param>
internal readonly record struct ConnectionEnd(
    string Problem, bool WasReady = false, TimeSpan ReadyFor = default, bool WasBrief = false, bool IsFault = false,
    string? WhyNoFurther = null, bool IsFinal = false, bool IsMutual = false);
