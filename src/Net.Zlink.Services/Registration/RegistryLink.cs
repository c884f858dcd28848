namespace Net.Zlink.Services;

/// <summary>A command of a link: a new connection, which the link's number names; the end of the present one; one message about an
/// entry; a warning that registrations stay unanswered, that one was refused, or that no list contains it.</summary>
internal enum LinkAction
{
    Connect,
    Disconnect,
    Send,
    WarnUnanswered,
    WarnRefused,
    WarnUnconfirmed,
}

internal readonly record struct LinkCommand(LinkAction Action, ushort MessageId = 0, LinkEntry? Entry = null, uint Weight = 0);

/// <summary>Keeps registrations of one endpoint true at one registry: a state machine without sockets and without a clock of its own.
/// Commands go out, events come in.</summary>
/// <remarks>
/// The wire has no correlation, so answers belong to requests by their order on a connection. Hence each connection has a number,
/// unanswered requests are forgotten with it, and events of another connection are ignored: no answer is ever taken for that of another
/// request. Not thread-safe; times are since any fixed moment.
/// </remarks>
/// <param name="heartbeatInterval">Between two heartbeats.</param>
/// <param name="ackTimeout">How long an answer may take.</param>
/// <param name="spread">From 0 to 1: by which part of a quarter pauses behind refusals are longer than those of another link. Processes
/// that were refused at one moment do not come back at one moment.</param>
internal sealed class RegistryLink(TimeSpan heartbeatInterval, TimeSpan ackTimeout, double spread = 0)
{
    /// <summary>Pauses between connections double from the first to the second while no answer comes.</summary>
    public static readonly TimeSpan ReconnectInterval = TimeSpan.FromMilliseconds(200);
    public static readonly TimeSpan ReconnectIntervalMax = TimeSpan.FromSeconds(5);

    /// <summary>Pauses between attempts double from the first to the second while the registry refuses.</summary>
    public static readonly TimeSpan RefusalPause = TimeSpan.FromSeconds(5);
    public static readonly TimeSpan RefusalPauseMax = TimeSpan.FromSeconds(60);

    private const double LargestSpread = 0.25;

    // At a registry that says that it is ours each second heartbeat is a REGISTER: its answer confirms the entry.
    private const int HeartbeatsUntilAnswered = 2;

    // A list may be on its way at one heartbeat, not at two.
    private const int HeartbeatsUntilUnconfirmed = 2;

    // A receiver whose last sign of life is older than this many intervals may have been dropped by the registry: it was suspended.
    private const int IntervalsUntilRegisteredAnew = 2;

    // The first REGISTER without an answer may be a busy registry. Another one over a new connection has a cause that is worth a warning.
    private const int UnansweredUntilWarning = 2;

    private const int StepsOfInterval = 8;

    private readonly Queue<UnansweredRequest> _unanswered = new();
    private readonly List<LinkEntry> _entries = [];
    private TimeSpan _reconnectPause = ReconnectInterval;
    private TimeSpan? _reconnectAt;
    private TimeSpan _lastHeartbeatAt;
    private int _unansweredInARow;
    private int _heartbeats;
    private bool _isReady;
    private bool _isClosed;

    /// <summary>Pending commands, in order; the owner executes them after each event.</summary>
    public Queue<LinkCommand> Commands { get; } = new();

    /// <summary>The number of the present or next connection; 0: there was none yet.</summary>
    public int Connection { get; private set; }

    public bool IsReady => _isReady;

    /// <summary>The registry has said that a repeated REGISTER costs it no list and brings back a lost entry. Native ones never
    /// do.</summary>
    public bool HasAnsweredHeartbeats { get; private set; }

    public IReadOnlyList<LinkEntry> Entries => _entries;

    /// <summary>Answers that no request waited for.</summary>
    public long UnexpectedAcks { get; private set; }

    /// <summary>Registrations that were sent again because of a pause of this process, or because the registry had lost the
    /// entry.</summary>
    public long Reregistrations { get; private set; }

    /// <summary>When <see cref="OnTick"/> has something to do next; null: not before another event.</summary>
    public TimeSpan? NextTick
    {
        get
        {
            if (_isClosed || !_isReady)
            {
                return _isClosed ? null : _reconnectAt;
            }

            TimeSpan next = NextHeartbeat;
            next = _unanswered.TryPeek(out UnansweredRequest oldest) ? Earlier(next, oldest.SentAt + ackTimeout) : next;
            foreach (LinkEntry entry in _entries)
            {
                next = entry.RetryAt is { } retry ? Earlier(next, retry) : next;
            }

            return next;
        }
    }

    public void Start() => Connect();

    public void OnReady(TimeSpan now, int connection)
    {
        if (_isClosed || _isReady || connection != Connection)
        {
            return;
        }

        _isReady = true;
        HasAnsweredHeartbeats = false;
        _heartbeats = 0;
        _reconnectAt = null;
        _lastHeartbeatAt = now;
        foreach (LinkEntry entry in _entries)
        {
            SendRegister(entry, now);
        }
    }

    public void OnLost(TimeSpan now, int connection, string why)
    {
        if (_isClosed || connection != Connection || _reconnectAt is not null)
        {
            return;
        }

        _isReady = false;
        _unanswered.Clear();
        foreach (LinkEntry entry in _entries)
        {
            entry.OnLost(why);
        }

        Commands.Enqueue(new LinkCommand(LinkAction.Disconnect));
        _reconnectAt = now + _reconnectPause;
        _reconnectPause = TimeSpan.FromTicks(Math.Min(_reconnectPause.Ticks * 2, ReconnectIntervalMax.Ticks));
    }

    public void OnAck(TimeSpan now, int connection, byte status, string text, bool hasAnsweredHeartbeats = false)
    {
        if (_isClosed || !_isReady || connection != Connection)
        {
            return;
        }

        if (!_unanswered.TryDequeue(out UnansweredRequest request))
        {
            UnexpectedAcks++;
            return;
        }

        HasAnsweredHeartbeats = hasAnsweredHeartbeats;
        _unansweredInARow = 0;
        _reconnectPause = ReconnectInterval;
        LinkEntry entry = request.Entry;
        if (entry.State == RegistrationState.Ended)
        {
            return; // It was removed while its answer was on the way.
        }

        bool isUpdate = request.MessageId == MessageIds.UpdateWeight;
        if (isUpdate && entry.IsListed && status is AckStatus.NotFound or AckStatus.Malformed)
        {
            Reregistrations++;
            SendRegister(entry, now); // The registry has lost the entry, or lists it as another one's.
            return;
        }

        entry.StatusCode = status;
        entry.Detail = text;
        if (status != AckStatus.Done)
        {
            OnRefused(now, entry, isListed: isUpdate && entry.IsListed);
            return;
        }

        entry.OnAccepted(now, request.Weight);
        if (request.Weight != entry.Weight && !_unanswered.Any(later => later.Entry == entry))
        {
            SendAnswered(MessageIds.UpdateWeight, entry, now); // It was changed while the entry was refused.
        }
    }

    public void OnTick(TimeSpan now)
    {
        if (_isClosed)
        {
            return;
        }

        if (!_isReady)
        {
            if (_reconnectAt <= now)
            {
                Connect();
            }

            return;
        }

        if (_unanswered.TryPeek(out UnansweredRequest oldest) && now - oldest.SentAt >= ackTimeout)
        {
            OnUnanswered(now);
            return;
        }

        foreach (LinkEntry entry in _entries)
        {
            if (entry.RetryAt <= now)
            {
                Retry(entry, now);
            }
        }

        if (now >= NextHeartbeat)
        {
            SendHeartbeats(now);
        }
    }

    /// <summary>The tick at this time sends heartbeats without an answer, so that <see cref="LinkEntry.IsSeen"/> is of use.</summary>
    public bool JudgesByLists(TimeSpan now) => _isReady && !HasAnsweredHeartbeats && now >= NextHeartbeat;

    public void Add(TimeSpan now, LinkEntry entry)
    {
        if (_isClosed)
        {
            return;
        }

        _entries.Add(entry);
        entry.State = _isReady || _reconnectAt is null ? RegistrationState.Pending : RegistrationState.Unreachable;
        if (_isReady)
        {
            SendRegister(entry, now);
        }
    }

    public void UpdateWeight(TimeSpan now, LinkEntry entry, uint weight)
    {
        entry.Weight = weight;
        bool isRefused = entry.State == RegistrationState.Refused;
        if (_isReady && !_isClosed && (entry.IsListed || !isRefused) && _entries.Contains(entry))
        {
            entry.State = isRefused ? RegistrationState.Pending : entry.State; // The registry has it and refused another weight.
            SendAnswered(MessageIds.UpdateWeight, entry, now);
        }
    }

    public void Remove(LinkEntry entry)
    {
        if (!_entries.Remove(entry))
        {
            return;
        }

        entry.State = RegistrationState.Ended;
        if (_isReady)
        {
            Commands.Enqueue(new LinkCommand(LinkAction.Send, MessageIds.Unregister, entry));
        }
    }

    /// <summary>Leaves the registry and ends the connection.</summary>
    public void Close()
    {
        if (_isClosed)
        {
            return;
        }

        while (_entries.Count > 0)
        {
            Remove(_entries[0]);
        }

        _isClosed = true;
        _isReady = false;
        _unanswered.Clear();
        Commands.Enqueue(new LinkCommand(LinkAction.Disconnect));
    }

    // At a multiple of an eighth of the interval, so that many links of a process wake it together.
    private TimeSpan NextHeartbeat
    {
        get
        {
            TimeSpan due = _lastHeartbeatAt + heartbeatInterval;
            long step = Math.Max(1, heartbeatInterval.Ticks / StepsOfInterval);
            return TimeSpan.FromTicks(due.Ticks - (due.Ticks % step));
        }
    }

    private void Connect()
    {
        _reconnectAt = null;
        Connection++;
        Commands.Enqueue(new LinkCommand(LinkAction.Connect));
    }

    private void SendHeartbeats(TimeSpan now)
    {
        bool wasSuspended = now - _lastHeartbeatAt > heartbeatInterval * IntervalsUntilRegisteredAnew;
        bool isAnswered = ++_heartbeats % HeartbeatsUntilAnswered == 0 && HasAnsweredHeartbeats;
        _lastHeartbeatAt = now;
        foreach (LinkEntry entry in _entries)
        {
            if (!entry.IsListed)
            {
                continue;
            }

            Judge(entry);
            Reregistrations += wasSuspended ? 1 : 0;
            if (wasSuspended || (isAnswered && entry.State == RegistrationState.Registered))
            {
                SendRegister(entry, now);
            }
            else
            {
                Commands.Enqueue(new LinkCommand(LinkAction.Send, MessageIds.Heartbeat, entry));
                entry.LastSentAt = now;
            }
        }
    }

    /// <summary>For a registry that does not answer heartbeats, the lists are the only confirmation.</summary>
    private void Judge(LinkEntry entry)
    {
        entry.Unseen = HasAnsweredHeartbeats || entry.IsSeen == true ? 0 : entry.Unseen + (entry.IsSeen == false ? 1 : 0);
        if (entry.State == RegistrationState.Registered && entry.Unseen >= HeartbeatsUntilUnconfirmed)
        {
            entry.State = RegistrationState.Unconfirmed;
            entry.Detail = "the registry accepted it, but the lists that this process follows do not contain it";
            Commands.Enqueue(new LinkCommand(LinkAction.WarnUnconfirmed, Entry: entry));
        }
        else if (entry.State == RegistrationState.Unconfirmed && entry.Unseen == 0)
        {
            entry.State = RegistrationState.Registered;
            entry.Detail = "";
        }
    }

    private void OnRefused(TimeSpan now, LinkEntry entry, bool isListed)
    {
        if (entry.Refusals == 0)
        {
            Commands.Enqueue(new LinkCommand(LinkAction.WarnRefused, Entry: entry));
        }

        double doubled = Math.Min(RefusalPause.TotalSeconds * Math.Pow(2, entry.Refusals), RefusalPauseMax.TotalSeconds);
        entry.OnRefused(now + TimeSpan.FromSeconds(doubled * (1 + (spread * LargestSpread))), isListed);
    }

    /// <summary>The refusal stays visible until there is another answer.</summary>
    private void Retry(LinkEntry entry, TimeSpan now)
    {
        entry.LastSentAt = now;
        SendAnswered(entry.IsListed ? MessageIds.UpdateWeight : MessageIds.Register, entry, now);
    }

    private void OnUnanswered(TimeSpan now)
    {
        if (++_unansweredInARow == UnansweredUntilWarning)
        {
            Commands.Enqueue(new LinkCommand(LinkAction.WarnUnanswered));
        }

        OnLost(now, Connection, _unansweredInARow < UnansweredUntilWarning ? "the registry did not answer in time"
            : "the registry does not answer: another receiver may have registered the same endpoint there, or the routing id of this "
                + "receiver is in use");
    }

    private void SendRegister(LinkEntry entry, TimeSpan now)
    {
        if (entry.State != RegistrationState.Registered)
        {
            entry.State = RegistrationState.Pending;
        }

        entry.LastSentAt = now;
        SendAnswered(MessageIds.Register, entry, now);
    }

    private void SendAnswered(ushort messageId, LinkEntry entry, TimeSpan now)
    {
        entry.RetryAt = null;
        _unanswered.Enqueue(new UnansweredRequest(messageId, entry, entry.Weight, now));
        Commands.Enqueue(new LinkCommand(LinkAction.Send, messageId, entry, entry.Weight));
    }

    private static TimeSpan Earlier(TimeSpan one, TimeSpan other) => one < other ? one : other;

    private readonly record struct UnansweredRequest(ushort MessageId, LinkEntry Entry, uint Weight, TimeSpan SentAt);
}
