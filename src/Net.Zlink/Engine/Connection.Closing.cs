using System.Collections.Concurrent;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <content>
/// How it ends: flush, end our side, read until the peer ends its side or the time is up, then dispose. .NET resets a socket that is
/// disposed while an operation is pending, and our zero-byte receive always is. Disposing at once destroyed accepted data: of 1,000,000
/// bytes the peer got 127,973 and a reset.
/// </content>
internal sealed partial class Connection
{
    private Phase _phase;
    private bool _peerEnded;
    private bool _endsOutput;
    private bool _isEndingOutput;
    private bool _sendingEnded;
    private bool _lingers;
    private DisconnectReason _reason;
    private ShardTimer? _deadline;
    private ConcurrentQueue<(DisconnectReason Reason, CloseMode Mode, TimeSpan? Linger)>? _requests;
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

    public bool HasEndedWriting => _phase >= Phase.WaitingForPeer;

    public bool IsClosed => _phase == Phase.Closed;

    public bool IsLingering => _phase == Phase.Flushing && _lingers;

    public long Discarded { get; private set; }

    /// <summary>It did not end its side of the connection in order, so nothing says that it has read what was written.</summary>
    public bool HasLostPeer { get; private set; }

    /// <summary>Any thread.</summary>
    public void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger = null)
    {
        LazyInitializer.EnsureInitialized(ref _requests).Enqueue((reason, mode, linger));
        Shard.Post(this, CloseWanted);
    }

    private void OnRequested()
    {
        while (_requests!.TryDequeue(out (DisconnectReason Reason, CloseMode Mode, TimeSpan? Linger) request))
        {
            // A later one without a linger time of its own leaves the earlier's.
            if (IsOpen || request.Mode != CloseMode.Orderly || request.Linger is not null)
            {
                Close(request.Reason, request.Mode, detail: null, request.Linger);
            }
        }
    }

    /// <summary>The first reason wins; an abort cuts an orderly close short.</summary>
    public void Close(DisconnectReason reason, CloseMode mode, string? detail, TimeSpan? linger = null)
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
            NotifyClosing(_reason, _peerEnded ? null : detail);
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

            TimeSpan limit = hasLinger ? linger ?? Settings.Linger : Settings.CloseTimeout;
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
                FlushNow();
            }

            if (_phase == Phase.Flushing && !_peerEnded)
            {
                // A peer that is blocked writing to us reads nothing until we read.
                DiscardInput();
            }
        }
    }

    /// <summary>Of a connection that ends by halves.</summary>
    private void OnOutputEnded()
    {
        _endsOutput = Wire.EndsByHalves;
        FlushNow();
    }

    private void EndSending()
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
        WireStatus status = _sendingEnded ? WireStatus.Done : _isEndingOutput ? WireStatus.WouldWait : Wire.EndSending(end);
        switch (status)
        {
            case WireStatus.Done:
                OnSendingEnded();
                break;
            case WireStatus.WouldWait:
                SetDeadline(Settings.CloseTimeout);
                if (_phase == Phase.WaitingForPeer && !_peerEnded)
                {
                    DiscardInput();
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
            Close(_reason, CloseMode.Orderly, detail: null);
            return;
        }

        // If it fails, reading says why.
        _isEndingOutput = true;
        _sendingEnded = Wire.EndSending(WireEnd.Finished) != WireStatus.WouldWait;
    }

    private void OnSendingEnded()
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

        SetDeadline(Settings.CloseTimeout);
        if (_phase == Phase.WaitingForPeer)
        {
            DiscardInput();
        }
    }

    public void Discard(int reads)
    {
        for (int i = 0; i < reads; i++)
        {
            long before = _discarded;
            WireStatus status = FrameReader.Discard(Wire, Shard.ReceiveSlab, ref _discarded);
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
                if (_phase != Phase.WaitingForPeer)
                {
                    PauseDiscarding();
                }

                // After our end, reading stops here: until the deadline the peer gets what the system holds, which a close would destroy.
                return;
            }

            if (status == WireStatus.WouldWait && _reader.WaitForInput() == WireStatus.WouldWait)
            {
                return;
            }
        }

        DiscardInput();
    }

    private void PauseDiscarding()
    {
        _pause ??= new ShardTimer(static state => ((Connection)state).OnPauseOver(), this);
        Shard.Timers.Arm(_pause, Wire.DiscardPause);
    }

    private void OnPauseOver()
    {
        _discarded = 0;
        if (_phase is Phase.Open or Phase.Flushing)
        {
            DiscardInput();
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
            case Phase.Open when _isEndingOutput || !EndsByHalves:
                Close(_reason, CloseMode.Orderly, detail: null);
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
            OutboundStays = OutboundSurvives;
        }

        Close(DisconnectReason.TransportError, CloseMode.Abort, Wire.Detail ?? Wire.Error.ToString());
    }

    public void LoseSilent()
    {
        HasLostPeer = true;
        if (IsLingering)
        {
            OutboundStays = OutboundSurvives;
            Close(_reason, CloseMode.Leave, detail: null);
        }
    }

    private bool EndsWithin(TimeSpan limit) => _deadline is { IsArmed: true } && Shard.Timers.Remaining(_deadline) <= limit;

    private void SetDeadline(TimeSpan after)
    {
        Shard.Timers.Cancel(_deadline);
        if (after == Timeout.InfiniteTimeSpan)
        {
            return;
        }

        if (after <= TimeSpan.Zero)
        {
            Finish(resets: false);
            return;
        }

        _deadline ??= new ShardTimer(static state => ((Connection)state).OnDeadline(), this);
        Shard.Timers.Arm(_deadline, after);
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
        if (!OutboundStays)
        {
            Outbound.DropQueued();
        }

        if (_lingers)
        {
            _lingers = false;
            SetDeadline(Settings.CloseTimeout);
        }
    }

    private void Finish(bool resets)
    {
        if (_phase == Phase.Closed)
        {
            return;
        }

        _phase = Phase.Closed;
        Shard.Timers.Cancel(_deadline);
        Shard.Timers.Cancel(_pause);
        _paused?.Leave();
        _reader.Stop();
        _writer.Stop(OutboundStays);
        _reader.Release();
        if (!resets && !_sendingEnded)
        {
            Wire.AvoidReset();
        }

        Wire.Dispose();
        _writer.Release();
        Shard.Counters.Connections--;
        _sink.OnClosed(this);
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
