namespace Net.Zlink.Services;

/// <summary>What a link wants done: a new connection, which the link's number names; the end of the present one; one message about an
/// entry; a warning that registrations stay unanswered.</summary>
internal enum LinkAction
{
    Connect,
    Disconnect,
    Send,
    Warn,
}

internal readonly record struct LinkCommand(LinkAction Action, ushort MessageId = 0, LinkEntry? Entry = null, uint Weight = 0);

/// <summary>Keeps registrations of one endpoint true at one registry: a state machine without sockets and without a clock of its own.
/// Commands go out, events come in.</summary>
/// <remarks>
/// The wire has no correlation, so answers belong to requests by their order on a connection. Hence each connection has a number,
/// unanswered requests are forgotten with it, and events of another connection are ignored: no answer is ever taken for that of another
/// request. Not thread-safe; times are since any fixed moment.
/// </remarks>
internal sealed class RegistryLink(TimeSpan heartbeatInterval, TimeSpan ackTimeout)
{
    /// <summary>Pauses between connections double from the first to the second while no answer comes.</summary>
    public static readonly TimeSpan ReconnectInterval = TimeSpan.FromMilliseconds(200);
    public static readonly TimeSpan ReconnectIntervalMax = TimeSpan.FromSeconds(5);

    // A receiver whose last sign of life is older than this many intervals may have been dropped by the registry: it was suspended.
    private const int IntervalsUntilRegisteredAnew = 2;

    // The first REGISTER without an answer may be a busy registry. Another one with a new connection is a cause to look for.
    private const int UnansweredUntilWarning = 2;

    private const int StepsOfInterval = 8;

    private readonly Queue<UnansweredRequest> _unanswered = new();
    private readonly List<LinkEntry> _entries = [];
    private TimeSpan _reconnectPause = ReconnectInterval;
    private TimeSpan? _reconnectAt;
    private TimeSpan _lastHeartbeatAt;
    private int _unansweredInARow;
    private bool _isReady;
    private bool _isClosed;

    /// <summary>What is to be done, in order; the owner empties it behind each event.</summary>
    public Queue<LinkCommand> Commands { get; } = new();

    /// <summary>The present connection, or the one to be made; 0: there was none yet.</summary>
    public int Connection { get; private set; }

    public bool IsReady => _isReady;

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
            TimeSpan heartbeat = NextHeartbeat;
            return _isClosed ? null
                : !_isReady ? _reconnectAt
                : _unanswered.TryPeek(out UnansweredRequest oldest) && oldest.SentAt + ackTimeout < heartbeat ? oldest.SentAt + ackTimeout
                : heartbeat;
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
            entry.State = RegistrationState.Unreachable;
            entry.Detail = why;
        }

        Commands.Enqueue(new LinkCommand(LinkAction.Disconnect));
        _reconnectAt = now + _reconnectPause;
        _reconnectPause = TimeSpan.FromTicks(Math.Min(_reconnectPause.Ticks * 2, ReconnectIntervalMax.Ticks));
    }

    public void OnAck(TimeSpan now, int connection, byte status, string text)
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

        _unansweredInARow = 0;
        _reconnectPause = ReconnectInterval;
        LinkEntry entry = request.Entry;
        if (entry.State == RegistrationState.Ended)
        {
            return; // It was removed while its answer was on the way.
        }

        if (status == AckStatus.NotFound && request.MessageId == MessageIds.UpdateWeight && entry.State == RegistrationState.Registered)
        {
            Reregistrations++;
            SendRegister(entry, now); // The registry has lost the entry: restarted, or its lease was over.
            return;
        }

        entry.StatusCode = status;
        entry.Detail = text;
        if (status == AckStatus.Done)
        {
            entry.State = RegistrationState.Registered;
            entry.AcceptedWeight = request.Weight;
            entry.AcceptedAt = now;
            if (request.Weight != entry.Weight && !_unanswered.Any(later => later.Entry == entry))
            {
                SendAnswered(MessageIds.UpdateWeight, entry, now); // It was changed while the entry was refused.
            }
        }
        else
        {
            entry.State = RegistrationState.Refused; // Asked again on the next connection.
        }
    }

    public void OnTick(TimeSpan now)
    {
        if (_isClosed)
        {
            return;
        }

        TimeSpan silence = now - _lastHeartbeatAt;
        if (!_isReady)
        {
            if (_reconnectAt <= now)
            {
                Connect();
            }
        }
        else if (_unanswered.TryPeek(out UnansweredRequest oldest) && now - oldest.SentAt >= ackTimeout)
        {
            OnUnanswered(now);
        }
        else if (now >= NextHeartbeat)
        {
            SendHeartbeats(now, silence);
        }
    }

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
        if (_isReady && !_isClosed && entry.State != RegistrationState.Refused && _entries.Contains(entry))
        {
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

    private void SendHeartbeats(TimeSpan now, TimeSpan silence)
    {
        _lastHeartbeatAt = now;
        bool wasSuspended = silence > heartbeatInterval * IntervalsUntilRegisteredAnew;
        foreach (LinkEntry entry in _entries.Where(static entry => entry.State == RegistrationState.Registered))
        {
            if (wasSuspended)
            {
                Reregistrations++;
                SendRegister(entry, now);
            }
            else
            {
                Commands.Enqueue(new LinkCommand(LinkAction.Send, MessageIds.Heartbeat, entry));
                entry.LastSentAt = now;
            }
        }
    }

    private void OnUnanswered(TimeSpan now)
    {
        if (++_unansweredInARow == UnansweredUntilWarning)
        {
            Commands.Enqueue(new LinkCommand(LinkAction.Warn));
        }

        OnLost(now, Connection, _unansweredInARow < UnansweredUntilWarning ? "the registry did not answer in time"
            : "the registry does not answer: another receiver may have registered the same endpoint there, or a routing id of this one "
                + "is in use");
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
        _unanswered.Enqueue(new UnansweredRequest(messageId, entry, entry.Weight, now));
        Commands.Enqueue(new LinkCommand(LinkAction.Send, messageId, entry, entry.Weight));
    }

    private readonly record struct UnansweredRequest(ushort MessageId, LinkEntry Entry, uint Weight, TimeSpan SentAt);
}
