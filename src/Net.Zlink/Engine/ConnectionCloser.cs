using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>
/// Closes one connection: flush, end our side, read until the peer ends its side or the time is up, then dispose. .NET resets a socket that
/// is disposed while an operation is pending, and our zero-byte receive always is. Disposing at once destroyed accepted data: of 1,000,000
/// bytes the peer got 127,973 and a reset.
/// </summary>
internal sealed class ConnectionCloser(Connection connection)
{
    private readonly Lock _gate = new();
    private Phase _phase;
    private bool _peerEnded;
    private bool _endsOutput;
    private bool _isEndingOutput;
    private bool _sendingEnded;
    private bool _lingers;
    private DisconnectReason _reason;
    private ShardTimer? _deadline;
    private (DisconnectReason Reason, CloseMode Mode, TimeSpan? Linger)? _request;
    private long _discarded;
    private ShardTimer? _pause;

    private enum Phase
    {
        Open,
        Flushing,
        WaitingForPeer,
        Closed,
    }

    public bool IsOpen => _phase == Phase.Open;

    public bool IsFlushed => _phase == Phase.WaitingForPeer;

    public bool IsClosed => _phase == Phase.Closed;

    public bool IsLingering => _phase == Phase.Flushing && _lingers;

    public long Discarded { get; private set; }

    /// <summary>It did not end its side of the connection in order, so nothing says that it has read what was written.</summary>
    public bool HasLostPeer { get; private set; }

    public bool Request(DisconnectReason reason, CloseMode mode, TimeSpan? linger)
    {
        lock (_gate)
        {
            if (_request is not { } earlier)
            {
                _request = (reason, mode, linger);
                return true;
            }

            // A later orderly request never replaces an immediate close, and nothing replaces an abort.
            if (mode < earlier.Mode || (mode == CloseMode.Orderly && linger is null))
            {
                return false;
            }

            // An infinite time is negative, hence the casts.
            bool isLonger = earlier.Linger is { } before && (linger is not { } later || (ulong)later.Ticks >= (ulong)before.Ticks);
            _request = (earlier.Reason, mode, isLonger ? earlier.Linger : linger);
            return true;
        }
    }

    public void OnRequested()
    {
        (DisconnectReason Reason, CloseMode Mode, TimeSpan? Linger) request;
        lock (_gate)
        {
            request = _request!.Value;
        }

        Begin(request.Reason, request.Mode, detail: null, request.Linger);
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
            _reason = _peerEnded ? _reason : reason;
            connection.NotifyClosing(_reason, _peerEnded ? null : detail);
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
            else if (isFirst || (_lingers && limit != Timeout.InfiniteTimeSpan && !EndsWithin(limit)))
            {
                SetDeadline(limit);
            }

            if (_phase == Phase.Flushing)
            {
                connection.FlushNow();
            }

            if (_phase == Phase.Flushing && !_peerEnded)
            {
                // A peer that is blocked writing to us reads nothing until we read.
                connection.DiscardInput();
            }
        }
    }

    /// <summary>Of a connection that ends by halves.</summary>
    public void EndOutput()
    {
        _endsOutput = connection.Wire.EndsByHalves;
        connection.FlushNow();
    }

    public void OnFlushed()
    {
        if (_phase == Phase.Open && _endsOutput && !_isEndingOutput)
        {
            EndOpenOutput();
            return;
        }

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
        WireStatus status = _sendingEnded ? WireStatus.Done : _isEndingOutput ? WireStatus.WouldWait : connection.Wire.EndSending(end);
        switch (status)
        {
            case WireStatus.Done:
                OnSendingEnded();
                break;
            case WireStatus.WouldWait:
                SetDeadline(connection.Settings.CloseTimeout);
                if (_phase == Phase.WaitingForPeer && !_peerEnded)
                {
                    connection.DiscardInput();
                }

                break;
            default:
                Finish(resets: true);
                break;
        }
    }

    private void EndOpenOutput()
    {
        if (_peerEnded)
        {
            Begin(_reason, CloseMode.Orderly, detail: null);
            return;
        }

        // If it fails, reading says why.
        _isEndingOutput = true;
        _sendingEnded = connection.Wire.EndSending(WireEnd.Finished) != WireStatus.WouldWait;
    }

    public void OnSendingEnded()
    {
        _sendingEnded = true;
        if (_phase != Phase.WaitingForPeer)
        {
            return;
        }

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

    public void Discard(int reads)
    {
        for (int i = 0; i < reads; i++)
        {
            long before = _discarded;
            WireStatus status = FrameReader.Discard(connection.Wire, connection.Shard.ReceiveSlab, ref _discarded);
            Discarded += _discarded - before;
            if (status is WireStatus.Ended or WireStatus.Failed or WireStatus.Refused)
            {
                HasLostPeer |= status == WireStatus.Failed;
                if (IsOpen && status == WireStatus.Failed)
                {
                    OnLost();
                }
                else
                {
                    OnPeerEnded();
                }

                return;
            }

            if (_discarded > Wire.MaxDiscarded)
            {
                if (!IsFlushed)
                {
                    PauseDiscarding();
                }

                // After our end, reading stops here: until the deadline the peer gets what the system holds, which a close would destroy.
                return;
            }

            if (status == WireStatus.WouldWait && connection.WaitForInput() == WireStatus.WouldWait)
            {
                return;
            }
        }

        connection.DiscardInput();
    }

    private void PauseDiscarding()
    {
        _pause ??= new ShardTimer(static state => ((ConnectionCloser)state).OnPauseOver(), this);
        connection.Shard.Timers.Arm(_pause, Wire.DiscardPause);
    }

    private void OnPauseOver()
    {
        _discarded = 0;
        if (_phase is Phase.Open or Phase.Flushing)
        {
            connection.DiscardInput();
        }
    }

    public void OnPeerEnded()
    {
        if (!_peerEnded && IsOpen)
        {
            _reason = _isEndingOutput ? DisconnectReason.Local : DisconnectReason.Remote;
        }

        _peerEnded = true;
        switch (_phase)
        {
            case Phase.Open when _isEndingOutput || !connection.EndsByHalves:
                Begin(_reason, CloseMode.Orderly, detail: null);
                break;
            case Phase.WaitingForPeer when _sendingEnded:
                Finish(resets: false);
                break;
            default:
                break;
        }
    }

    /// <summary>After a lost read or write queued messages may go out by another connection, while linger time is left.</summary>
    public void OnLost()
    {
        HasLostPeer = true;
        if (IsLingering)
        {
            connection.DetachOutbound();
        }

        Begin(DisconnectReason.TransportError, CloseMode.Abort, connection.Wire.Detail ?? connection.Wire.Error.ToString());
    }

    public void OnSilent()
    {
        HasLostPeer = true;
        if (IsLingering)
        {
            connection.DetachOutbound();
            Begin(_reason, CloseMode.Leave, detail: null);
        }
    }

    private bool EndsWithin(TimeSpan limit) => _deadline is { IsArmed: true } && connection.Shard.Timers.Remaining(_deadline) <= limit;

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
            HasLostPeer = true;
            Finish(resets: false);
        }
    }

    /// <summary>
    /// Ends the linger time. An abort would also destroy what the kernel has taken, so the close timeout applies to that.
    /// </summary>
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

internal enum CloseMode
{
    /// <summary>Write what was accepted, end our side, read until the peer ends its side, then close.</summary>
    Orderly,

    /// <summary>The system still delivers what it has taken.</summary>
    Leave,

    /// <summary>As <see cref="Leave"/>, with a reset, which destroys what the system has taken.</summary>
    Abort,
}
