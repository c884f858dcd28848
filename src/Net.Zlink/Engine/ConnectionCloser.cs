using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>The end of one connection: flush, end our side, read until the peer ends its own or the time is up, then let go of it.</summary>
/// <remarks>
/// .NET closes a socket abortively while an operation is pending on it, and our zero-byte receive always is: disposing at once destroyed accepted
/// data (of 1,000,000 bytes accepted by Send the peer got 127,973 and a reset). So the order is fixed here, in one place; a reset is for aborts alone.
/// </remarks>
internal sealed class ConnectionCloser(Connection connection)
{
    private readonly Lock _gate = new();
    private Phase _phase;
    private bool _peerEnded;
    private bool _sendingEnded;
    private bool _lingers; // The deadline, if one is armed, is the linger time's end: then what waits is dropped. Any other is the connection's end.
    private DisconnectReason _reason;
    private ShardTimer? _deadline;
    private DisconnectReason _requestedReason;
    private CloseMode _requestedMode;
    private TimeSpan? _requestedLinger;
    private bool _isRequested;
    private long _discarded;
    private ShardTimer? _pause;

    private enum Phase
    {
        Open,
        Flushing,
        WaitingForPeer,
        Closed,
    }

    /// <summary>Frames are delivered and sends accepted.</summary>
    public bool IsOpen => _phase == Phase.Open;

    /// <summary>All that was accepted is with the kernel, and our side is ended.</summary>
    public bool IsFlushed => _phase == Phase.WaitingForPeer;

    public bool IsClosed => _phase == Phase.Closed;

    /// <summary>What was accepted is still being written, for as long as the linger time says.</summary>
    public bool IsLingering => _phase == Phase.Flushing && _lingers;

    /// <summary>Bytes of the peer that were thrown away: it lives.</summary>
    public long Discarded { get; private set; }

    /// <summary>Notes a wish to close. Any thread. True if the shard has something new to do.</summary>
    public bool Request(DisconnectReason reason, CloseMode mode, TimeSpan? linger)
    {
        lock (_gate)
        {
            // What ends at once is never taken back by a later wish to close in order, nor an abort by anything.
            if (_isRequested && (mode < _requestedMode || (mode == CloseMode.Orderly && linger is null)))
            {
                return false;
            }

            if (!_isRequested)
            {
                _requestedReason = reason;
            }

            // As in Begin: a later wish wants it sooner, not later. An infinite time is negative, hence the casts.
            if (!_isRequested || _requestedLinger is not { } earlier || (linger is { } later && (ulong)later.Ticks < (ulong)earlier.Ticks))
            {
                _requestedLinger = linger;
            }

            _isRequested = true;
            _requestedMode = mode;
            return true;
        }
    }

    /// <summary>Carries out what <see cref="Request"/> noted. On the shard, like everything below.</summary>
    public void OnRequested()
    {
        DisconnectReason reason;
        CloseMode mode;
        TimeSpan? linger;
        lock (_gate)
        {
            (reason, mode, linger) = (_requestedReason, _requestedMode, _requestedLinger);
        }

        Begin(reason, mode, detail: null, linger);
    }

    public void Begin(DisconnectReason reason, CloseMode mode, string? detail, TimeSpan? linger = null)
    {
        if (_phase == Phase.Closed)
        {
            return;
        }

        bool isFirst = _phase == Phase.Open;
        if (isFirst)
        {
            _phase = Phase.Flushing;
            _reason = reason;
            connection.NotifyClosing(reason, detail);
        }

        if (mode != CloseMode.Orderly)
        {
            Finish(resets: mode == CloseMode.Abort);
            return;
        }

        if (_phase == Phase.Flushing)
        {
            bool hasLinger = linger is not null || reason == DisconnectReason.Local;
            if (isFirst)
            {
                _lingers = hasLinger;
            }

            TimeSpan limit = hasLinger ? linger ?? connection.Settings.Linger : connection.Settings.CloseTimeout;
            if (hasLinger && limit <= TimeSpan.Zero && limit != Timeout.InfiniteTimeSpan)
            {
                StopLingering();
            }
            else if (isFirst || (_lingers && limit != Timeout.InfiniteTimeSpan && !(_deadline is { IsArmed: true } && connection.Shard.Timers.Remaining(_deadline) <= limit)))
            {
                // A close that is under way has its time already: a later wish may want it sooner, not later.
                SetDeadline(limit);
            }

            if (_phase == Phase.Flushing)
            {
                connection.FlushNow();
            }

            if (_phase == Phase.Flushing && !_peerEnded)
            {
                // A peer that is itself stuck writing to us reads nothing until we read on.
                connection.DiscardInput();
            }
        }
    }

    /// <summary>Everything accepted is with the kernel.</summary>
    public void OnFlushed()
    {
        if (_phase != Phase.Flushing)
        {
            return;
        }

        _phase = Phase.WaitingForPeer;
        _discarded = 0;
        WireEnd end = _reason switch
        {
            DisconnectReason.Local => WireEnd.Finished,
            DisconnectReason.ContextTerminated => WireEnd.GoingAway,
            _ => WireEnd.Plain,
        };
        switch (connection.Wire.EndSending(end))
        {
            case WireStatus.Done:
                OnSendingEnded();
                break;
            case WireStatus.WouldWait:
                SetDeadline(connection.Settings.CloseTimeout);
                if (_phase == Phase.WaitingForPeer && !_peerEnded)
                {
                    connection.DiscardInput(); // A peer that is itself stuck writing to us does not read our last words either.
                }

                break;
            default:
                Finish(resets: true); // Already gone: there is nobody to wait for.
                break;
        }
    }

    /// <summary>The peer can see the end of our side.</summary>
    public void OnSendingEnded()
    {
        if (_phase != Phase.WaitingForPeer)
        {
            return;
        }

        _sendingEnded = true;
        if (_peerEnded)
        {
            Finish(resets: false);
            return;
        }

        SetDeadline(connection.Settings.CloseTimeout);
        if (_phase == Phase.WaitingForPeer)
        {
            connection.DiscardInput();
        }
    }

    /// <summary>Throws away what the peer still sends, in so many reads, and then asks for another turn.</summary>
    public void Discard(int reads)
    {
        for (int i = 0; i < reads; i++)
        {
            long before = _discarded;
            ReadOutcome outcome = FrameReader.Discard(connection.Wire, connection.Shard.ReceiveSlab, ref _discarded);
            Discarded += _discarded - before;
            if (outcome is ReadOutcome.EndOfStream or ReadOutcome.Failed or ReadOutcome.Refused)
            {
                OnPeerEnded();
                return;
            }

            if (_discarded > Wire.MaxDiscarded)
            {
                if (!IsFlushed)
                {
                    PauseDiscarding();
                }

                return; // Behind our end it is not read on. What the system still has for it, it gets until the deadline: a close with input unread would destroy that.
            }

            if (outcome == ReadOutcome.Drained && connection.WaitForInput() == WireStatus.WouldWait)
            {
                return;
            }
        }

        connection.DiscardInput();
    }

    /// <summary>The peer talks on while we still write: it is read again in a while.</summary>
    private void PauseDiscarding()
    {
        _pause ??= new ShardTimer(static state => ((ConnectionCloser)state).OnPauseOver(), this);
        connection.Shard.Timers.Arm(_pause, Wire.DiscardPause);
    }

    private void OnPauseOver()
    {
        _discarded = 0;
        if (_phase is Phase.Flushing)
        {
            connection.DiscardInput();
        }
    }

    /// <summary>The peer sends nothing more: it ended its side, or the connection broke while we were closing.</summary>
    public void OnPeerEnded()
    {
        _peerEnded = true;
        switch (_phase)
        {
            case Phase.Open:
                Begin(DisconnectReason.Remote, CloseMode.Orderly, detail: null);
                break;
            case Phase.WaitingForPeer when _sendingEnded:
                Finish(resets: false);
                break;
            default:
                break; // Flushing, or ending our side, goes on: what was accepted may still arrive.
        }
    }

    /// <summary>A read or a write failed: there is nothing left to do in order. What waits while linger time is left may leave by another connection.</summary>
    public void OnLost()
    {
        if (IsLingering)
        {
            connection.DetachOutbound();
        }

        Begin(DisconnectReason.TransportError, CloseMode.Abort, connection.Wire.Detail ?? connection.Wire.Error.ToString());
    }

    /// <summary>The peer has not been heard of for too long, though linger time is left: as a loss, but what the system has taken it may go on delivering.</summary>
    public void OnSilent()
    {
        if (IsLingering)
        {
            connection.DetachOutbound();
            Begin(_reason, CloseMode.Leave, detail: null);
        }
    }

    private void SetDeadline(TimeSpan after)
    {
        connection.Shard.Timers.Cancel(_deadline);
        if (after == Timeout.InfiniteTimeSpan)
        {
            return;
        }

        if (after <= TimeSpan.Zero)
        {
            Finish(resets: false);
            return;
        }

        _deadline ??= new ShardTimer(static state => ((ConnectionCloser)state).OnDeadline(), this);
        connection.Shard.Timers.Arm(_deadline, after);
    }

    private void OnDeadline()
    {
        if (IsLingering)
        {
            StopLingering();
        }
        else
        {
            Finish(resets: false);
        }
    }

    /// <summary>The linger time is over: what waits is dropped, unless it waits for the next connection. What the kernel has taken is not, since an abort would destroy that too: the rest of the end has the close timeout.</summary>
    private void StopLingering()
    {
        if (!connection.OutboundStays)
        {
            connection.Outbound.DropQueued();
        }

        if (_lingers)
        {
            _lingers = false;
            SetDeadline(connection.Settings.CloseTimeout);
        }
    }

    private void Finish(bool resets)
    {
        if (_phase == Phase.Closed)
        {
            return;
        }

        _phase = Phase.Closed;
        connection.Shard.Timers.Cancel(_deadline);
        connection.Shard.Timers.Cancel(_pause);
        connection.Teardown(isToEndOurSide: !resets && !_sendingEnded);
    }
}
