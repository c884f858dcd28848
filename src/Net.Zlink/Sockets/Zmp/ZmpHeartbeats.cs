using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// The native core has one timer for all of this; with separate timers the peer sees no difference. While reading is paused, the timeouts
/// stop, because this side does not listen. A peer is also not judged while the system holds unread bytes of it, as after a pause of the
/// whole process. A peer that is not read gets an unasked HEARTBEAT_ACK at half its own interval if either side uses heartbeats.
/// </summary>
internal sealed class ZmpHeartbeats
{
    // For a peer whose heartbeats may wait behind unread messages: it may have a timeout, but hardly one below a second.
    private static readonly TimeSpan DefaultPeerInterval = TimeSpan.FromMilliseconds(500);

    private const int MaxHeartbeatBytes = 128;

    private static readonly TimeSpan FastestPace = TimeSpan.FromMilliseconds(10);

    // A peer that sends heartbeats only if it hears nothing has longer pauses between them than its timeout.
    private static readonly TimeSpan SlowestPace = TimeSpan.FromSeconds(1);

    // One right behind the handshake tells that the peer has heartbeats, and nothing of its interval.
    private static readonly TimeSpan FirstInterval = TimeSpan.FromMilliseconds(20);

    private static readonly TimeSpan TimeForAnswer = TimeSpan.FromSeconds(2);

    // A peer that is closed and opened again at once may still answer on its old connection.
    private static readonly TimeSpan TimeForEnd = TimeSpan.FromMilliseconds(250);

    // At 256 KiB a turn this is more than a system buffers for a connection, so later bytes were sent meanwhile.
    private const int MaxChecks = 256;

    private readonly ZmpSession _session;
    private readonly HeartbeatSettings _settings;
    private readonly ShardTimers _timers;
    private readonly ShardTimer _ping;
    private readonly ShardTimer _timeout;
    private readonly ShardTimer _ttl;
    private readonly ShardTimer _stillHere;
    private readonly ShardTimer _question;
    private TimeSpan _effectiveTtl;
    private readonly long _openedAt;
    private readonly QuietHeartbeats? _quiet;
    private TimeSpan? _peerInterval;
    private long _heartbeats;
    private int _unread;
    private Progress _sinceHeartbeat;
    private Progress _sinceRemote;
    private Progress _sinceQuestion;
    private bool _isHeard;
    private bool _isAnswered;
    private int _checks;

    public ZmpHeartbeats(ZmpSession session, HeartbeatSettings settings, ShardTimers timers, long openedAt)
    {
        _openedAt = openedAt;
        _session = session;
        _settings = settings;
        _timers = timers;
        _quiet = settings.OnlyIfSilent ? new QuietHeartbeats(session, settings) : null;
        _ping = new ShardTimer(static state => ((ZmpHeartbeats)state).OnPing(), this);
        _timeout = new ShardTimer(static state => ((ZmpHeartbeats)state).OnTimeout(), this);
        _ttl = new ShardTimer(static state => ((ZmpHeartbeats)state).OnTtl(), this);
        _stillHere = new ShardTimer(static state => ((ZmpHeartbeats)state).OnStillHere(), this);
        _question = new ShardTimer(static state => ((ZmpHeartbeats)state).OnNoAnswer(), this);
    }

    public void Start()
    {
        if (_settings.Interval <= TimeSpan.Zero)
        {
            return;
        }

        if (_quiet is null)
        {
            _timers.ArmWithSlack(_ping, _settings.Interval);
            return;
        }

        _quiet.Start();
        OnPing(); // A peer that pauses reading within the first interval has to know that its signs of life are waited for.
    }

    /// <summary>
    /// A closing connection that still delivers is judged too: a dead peer must not keep messages from the next connection.
    /// </summary>
    public void OnClosing()
    {
        _timers.Cancel(_ttl);
        _timers.Cancel(_stillHere);
        _timers.Cancel(_question);
    }

    public void Stop()
    {
        OnClosing();
        _quiet?.Stop();
        _timers.Cancel(_ping);
        _timers.Cancel(_timeout);
    }

    public void OnTraffic()
    {
        _isHeard = true;
        _timers.Cancel(_timeout);
        _timers.Cancel(_ttl);
        OnUse();
    }

    /// <summary>A connection that has rested is in use.</summary>
    public void OnUse()
    {
        if (_quiet is { IsQuiet: true })
        {
            _quiet.IsQuiet = false;
            _timers.ArmWithSlack(_ping, _settings.Interval);
        }
    }

    public void OnHeartbeat(TimeSpan remoteTtl)
    {
        // The mean over all: after a pause of reading, several come at once.
        TimeSpan interval = _timers.Time.GetElapsedTime(_openedAt) / ++_heartbeats;
        _peerInterval = _heartbeats > 1 || interval > FirstInterval ? interval : null;
        if (remoteTtl > TimeSpan.Zero)
        {
            var own = TimeSpan.FromMilliseconds(100.0 * _settings.TtlTenths);
            _effectiveTtl = own > TimeSpan.Zero && own < remoteTtl ? own : remoteTtl;
            _sinceRemote.IsMade(Connection);
            _timers.Arm(_ttl, _effectiveTtl);
        }
    }

    public void SendQuestion()
    {
        Span<byte> frame = stackalloc byte[ZmpHeartbeat.FrameSize];
        ZmpHeartbeat.Write(frame, ttlTenths: 0);
        _session.SendControl(frame);
    }

    public void SendUnaskedAnswer()
    {
        Span<byte> frame = stackalloc byte[ZmpHeartbeatAck.LargestAnswer];
        int length = ZmpHeartbeatAck.Write(frame, []);
        _session.SendControl(frame[..length]);
    }

    /// <summary>
    /// A newcomer waits for this peer's place: reads what the system has, which may be the peer's end, and then asks the peer.
    /// </summary>
    public void AskForPlace()
    {
        if (_question.IsArmed)
        {
            return;
        }

        long before = Connection.ReceivedBytes + Connection.PartialReads;
        Connection.ReadAhead();
        if (!Connection.IsOpen)
        {
            return;
        }

        bool hasRead = Connection.ReceivedBytes + Connection.PartialReads != before;
        bool isPaused = Connection.IsPaused || !_session.HasCapacity();
        if (!isPaused && hasRead && Connection.Wire.HasUnread && _checks < MaxChecks)
        {
            _checks++;
            Connection.PostToSink();
            return;
        }

        bool isBusy = _checks == MaxChecks;
        _checks = 0;
        if (isPaused || isBusy)
        {
            _session.OnPlaceAnswered();
            return;
        }

        if (_session.TryLeavePlace())
        {
            return;
        }

        _isHeard = false;
        _isAnswered = false;
        _sinceQuestion.IsMade(Connection);
        _timers.Arm(_question, AnswerTime);
        SendQuestion();
    }

    public void OnAnswer()
    {
        _quiet?.OnAnswer();
        if (_question.IsArmed && !_isAnswered)
        {
            _isAnswered = true;
            _timers.Cancel(_question);
            _timers.Arm(_question, TimeForEnd);
        }
    }

    public void OnPaused()
    {
        if (!_stillHere.IsArmed && Connection.IsOpen)
        {
            _unread = Connection.Wire.UnreadBytes;
            _timers.Arm(_stillHere, Pace);
        }
    }

    /// <summary>The peer uses heartbeats, or may: they are usually configured at both ends.</summary>
    private bool MayExpectHeartbeats => _heartbeats > 0 || _settings.Interval > TimeSpan.Zero
        || Connection.Wire.Scheme is EndpointText.Ipc;

    private TimeSpan Pace
    {
        get
        {
            TimeSpan pace = _peerInterval / 2 ?? DefaultPeerInterval;
            return pace < FastestPace ? FastestPace : pace > SlowestPace ? SlowestPace : pace;
        }
    }

    private TimeSpan AnswerTime => _settings.Timeout > TimeSpan.Zero ? _settings.Timeout : TimeForAnswer;

    private Connection Connection => _session.Connection;

    private bool IsNeeded => Connection.IsOpen || Connection.IsLingering;

    private void OnPing()
    {
        if (!IsNeeded)
        {
            return;
        }

        if (_quiet?.TimeLeft() is { } left && left > _settings.Interval / 8)
        {
            if (_quiet.IsQuiet)
            {
                _timers.Arm(_ping, left);
            }
            else
            {
                _timers.ArmWithSlack(_ping, left);
            }

            return;
        }

        Span<byte> frame = stackalloc byte[ZmpHeartbeat.FrameSize];
        ZmpHeartbeat.Write(frame, _quiet?.Announce() ?? _settings.TtlTenths);
        if (_settings.Timeout > TimeSpan.Zero && !_timeout.IsArmed)
        {
            _sinceHeartbeat.IsMade(Connection);
            _timers.Arm(_timeout, _settings.Timeout);
        }

        _timers.ArmWithSlack(_ping, _settings.Interval);
        _quiet?.OnSent();
        _session.SendControl(frame);
    }

    private void OnTimeout()
    {
        if (!IsNeeded)
        {
            return;
        }

        if (Connection.IsPaused || _sinceHeartbeat.IsMade(Connection) || Connection.Wire.HasUnread)
        {
            _timers.Arm(_timeout, _settings.Timeout);
            return;
        }

        _session.EndSilence($"nothing was received within {_settings.Timeout.TotalMilliseconds:0} ms after a heartbeat");
    }

    /// <summary>
    /// Frames other than HEARTBEAT_ACK may have been sent before the question, with the peer's end behind them: they count at the end of
    /// the time only.
    /// </summary>
    private void OnNoAnswer()
    {
        if (!Connection.IsOpen)
        {
            return;
        }

        if (_isHeard || Connection.IsPaused)
        {
            _session.OnPlaceAnswered();
        }
        else if (_sinceQuestion.IsMade(Connection) || Connection.Wire.HasUnread)
        {
            _timers.Arm(_question, AnswerTime);
        }
        else
        {
            _session.OnPlaceSilent(
                $"nothing was received within {AnswerTime.TotalMilliseconds:0} ms after a heartbeat, and another peer claims its place");
        }
    }

    private void OnTtl()
    {
        if (Connection.IsPaused || _sinceRemote.IsMade(Connection) || Connection.Wire.HasUnread)
        {
            _timers.Arm(_ttl, _effectiveTtl);
            return;
        }

        _session.FailLiveness($"nothing was received within the {_effectiveTtl.TotalMilliseconds:0} ms that the peer's heartbeat allows");
    }

    private void OnStillHere()
    {
        if (!Connection.IsPaused)
        {
            return;
        }

        if (MayExpectHeartbeats || HasReceivedHeartbeatSized())
        {
            SendUnaskedAnswer();
        }

        _timers.Arm(_stillHere, Pace);
    }

    /// <summary>
    /// Other peers get nothing. A peer that sends and exits has closed its socket while its system still delivers, and answers everything
    /// with a reset. Of 5,000 messages to a receiver that was busy for 8 s, 4,600 were lost.
    /// </summary>
    private bool HasReceivedHeartbeatSized()
    {
        int unread = Connection.Wire.UnreadBytes;
        int more = unread - _unread;
        _unread = unread;
        return more is > 0 and <= MaxHeartbeatBytes;
    }

    private struct Progress
    {
        private long _reads;
        private long _writes;

        public bool IsMade(Connection connection)
        {
            long reads = connection.PartialReads + connection.Discarded;
            bool isMade = reads != _reads || (connection.Outbound.HasControl && connection.Writes != _writes);
            (_reads, _writes) = (reads, connection.Writes);
            return isMade;
        }
    }
}
