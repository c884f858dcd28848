using System.Diagnostics;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

internal sealed class ConnectionReader(
    Connection connection,
    IConnectionSink sink,
    ConnectionWriter writer,
    BufferPool pool)
{
    // Reads of up to 64 KiB, or of one large frame, before the shard's other connections read.
    private const int MaxReadsPerTurn = 4;

    // After a loss: 16 MiB in reads of 64 KiB, more than the system's default buffers hold (6 MiB).
    private const int MaxFinalReads = 256;

    private ShardTimer? _idle;
    private FrameReader _frames = new(connection.Wire, connection.Shard.ReceiveSlab, pool);
    private FairLimitShare _unfinished;
    private long _unfinishedParts;
    private int _mostToRead;
    private bool _waits = true; // Connection.Start begins the first wait, off the shard.
    private bool _paused;
    private bool _drops;
    private bool _hasUnflushedReplies;
    private long? _finalLimit;

    public FairLimit? Unfinished
    {
        set => _unfinished = new FairLimitShare(value);
    }

    /// <summary>Written on the shard, read by any thread.</summary>
    public long ReceivedMessages { get; private set; }

    public long ReceivedBytes { get; private set; }

    /// <summary>Any thread.</summary>
    public long LastReadAt { get; private set; } = connection.Shard.Timers.Timestamp();

    public long PartialReads { get; private set; }

    public bool IsPaused => _paused;

    /// <summary>The idle time has begun with the connection, before its shard: that delay counts.</summary>
    public void Start()
    {
        if (IdleTimeout > TimeSpan.Zero)
        {
            _idle = new ShardTimer(static state => ((ConnectionReader)state).OnIdle(), this);
            connection.Shard.Timers.Arm(_idle, IdleTimeout - connection.SinceLastRead);
        }
    }

    public void Resume()
    {
        if (_paused && Delivers)
        {
            _paused = false;
            RestartIdle(); // The peer was silent because we did not read.
            ContinueReading();
        }
    }

    public void EndPause() => _paused = false;

    public void StopDelivering() => _drops = true;

    private bool Delivers => (connection.IsOpen || connection.EndsByHalves) && !_drops;

    public void Prefetch()
    {
        if (_paused || !connection.IsOpen || !MayRead(pastLimits: false))
        {
            return;
        }

        if (_waits && connection.Wire.ReadsAhead)
        {
            OnReadable(); // It looks for itself, and waits again.
        }
        else
        {
            ReadLoop();
        }
    }

    public void Stop() => connection.Shard.Timers.Cancel(_idle);

    public void Release()
    {
        _frames.Release();
        _unfinished.TryReserve(0);
    }

    public void OnReadable()
    {
        // Prefetches for the code after the read, which takes a microsecond, or ten with decryption.
        CacheLines.FetchLarge(connection);
        CacheLines.Fetch(writer);
        CacheLines.Fetch(sink);
        CacheLines.FetchLarge(connection.Outbound);
        WireStatus status = connection.Wire.FinishWait();
        _waits = status == WireStatus.WouldWait;
        if (_waits || connection.IsClosed)
        {
            return;
        }

        if (status != WireStatus.Failed)
        {
            ContinueReading();
        }
        else
        {
            OnLost();
        }
    }

    private void OnLost()
    {
        if (connection.IsOpen)
        {
            connection.OnLost();
        }
        else
        {
            connection.OnPeerEnded();
        }
    }

    public void ContinueReading()
    {
        if (!_waits && !connection.IsClosed)
        {
            if (!Delivers)
            {
                RestartIdle();
                connection.Discard(MaxReadsPerTurn);
            }
            else if (!_paused)
            {
                _paused = !MayReadRemaining() && !MayRead(pastLimits: false);
                if (!_paused)
                {
                    ReadLoop();
                }
            }
        }

        if (_finalLimit is not null && connection.IsOpen && (_waits ? !connection.Wire.HasUnread : !MayReadRemaining()))
        {
            connection.OnLost();
        }
    }

    private void ReadLoop()
    {
        // One read can take long to process: 64 KiB of topics took a publisher 10 ms, and four such reads delayed the shard's other
        // connections by 40 ms.
        long end = Stopwatch.GetTimestamp() + ShardLoop.MaxTicksPerTurn;
        for (int i = 0; i < MaxReadsPerTurn && (i == 0 || Stopwatch.GetTimestamp() < end); i++)
        {
            WireStatus status = Read();
            if (Delivers && !_unfinished.TryReserve(_frames.RetainedMemory + _unfinishedParts))
            {
                string detail = _unfinished.Words("incomplete messages", nameof(DisconnectReason.UnfinishedByteLimit));
                Release();
                connection.Close(DisconnectReason.UnfinishedByteLimit, CloseMode.Orderly, detail);
            }

            if (Delivers && !_paused)
            {
                status = status == WireStatus.WouldWait ? WaitForInput() : status;
                if (status == WireStatus.Done)
                {
                    continue;
                }
            }

            FlushReplies();
            if (!Delivers)
            {
                return;
            }

            if (status == WireStatus.Ended && _finalLimit is null)
            {
                sink.OnInputEnded(connection);
                connection.OnPeerEnded();
                return;
            }

            if (status == WireStatus.Refused && connection.IsOpen)
            {
                // The transport has sent its error, and no message can follow: queued messages are dropped.
                connection.Close(DisconnectReason.TransportError, CloseMode.Orderly, connection.Wire.Detail, linger: TimeSpan.Zero);
                return;
            }

            if (status is WireStatus.Failed or WireStatus.Ended or WireStatus.Refused)
            {
                OnLost();
            }

            return;
        }

        FlushReplies();
        connection.ReadOn();
    }

    /// <summary>
    /// A write has failed. What the peer sent before is delivered past the limits, since no connection remains to be resumed later. Then
    /// the connection ends. A wire with a buffer of its own cannot be read beyond that at once: it is read until it ends or has failed.
    /// </summary>
    public void ReadRemaining()
    {
        if (connection.IsOpen)
        {
            _finalLimit = ReceivedBytes + (MaxFinalReads * (long)ReceiveSlab.ReadSize);
            if (connection.Wire.HasOwnBuffer)
            {
                _paused &= !MayReadRemaining();
                ContinueReading();
                return;
            }

            ReadAll();
        }

        connection.OnLost();
    }

    private bool MayReadRemaining() => ReceivedBytes < _finalLimit && MayRead(pastLimits: true);

    private bool MayRead(bool pastLimits)
    {
        _mostToRead = sink.MostToRead(connection, pastLimits);
        return _mostToRead > 0;
    }

    private void ReadAll()
    {
        WireStatus status = WireStatus.Done;
        for (int reads = 0; reads < MaxFinalReads && status == WireStatus.Done && connection.IsOpen && MayRead(pastLimits: true); reads++)
        {
            status = Read();
        }
    }

    /// <summary>A failed socket reports its error once: the next read would take a reset for an orderly end.</summary>
    public WireStatus WaitForInput()
    {
        if (_waits)
        {
            return WireStatus.WouldWait;
        }

        WireStatus status = connection.Wire.WaitForInput() ? WireStatus.WouldWait : connection.Wire.FinishWait();
        _waits = status == WireStatus.WouldWait;
        return status;
    }

    /// <summary>Called by the sink while it takes bytes: what it sends meanwhile is flushed behind that.</summary>
    public void HoldReplies() => _hasUnflushedReplies = _hasUnflushedReplies || connection.Outbound.TryAcquireFlush();

    private WireStatus Read()
    {
        int kept = _frames.BufferedBytes;
        WireStatus status = _frames.Read(_mostToRead, out InboundBytes bytes);
        bool areTaken = bytes.Length > 0 && Deliver(bytes);
        if (!areTaken && _frames.BufferedBytes > kept)
        {
            PartialReads++;
            LastReadAt = connection.Shard.Now;
        }

        return status;
    }

    /// <summary>False: they hold no whole frame.</summary>
    private bool Deliver(in InboundBytes bytes)
    {
        LastReadAt = connection.Shard.Now;
        bool isKept = false;
        bool areTaken;
        try
        {
            InboundResult result = sink.OnBytes(connection, bytes);
            areTaken = result.Consumed > 0;
            ReceivedMessages += result.Frames;
            ReceivedBytes += result.Consumed;
            _unfinishedParts = result.UnfinishedBytes;
            _mostToRead = result.MostToRead;
            if (Delivers)
            {
                _paused |= _mostToRead == 0 && !MayReadRemaining();
                isKept = _frames.TryKeep(bytes, result);
            }
        }
        finally
        {
            if (bytes.OwnsSlab && !isKept)
            {
                bytes.Slab.Release();
            }
        }

        // A packing transport writes them once no input is left: otherwise a burst that was split once stays split.
        if (!connection.Wire.IsPacked)
        {
            FlushReplies();
        }

        return areTaken;
    }

    private void FlushReplies()
    {
        if (_hasUnflushedReplies)
        {
            _hasUnflushedReplies = false;
            writer.Flush();
        }
    }

    private TimeSpan IdleTimeout => connection.Settings.IdleTimeout;

    private void RestartIdle()
    {
        if (_idle is { IsArmed: true })
        {
            connection.Shard.Timers.Arm(_idle, IdleTimeout);
        }
    }

    private void OnIdle()
    {
        TimeSpan left = IdleTimeout - connection.SinceLastRead;
        if (left > TimeSpan.Zero || _paused || connection.Wire.HasUnread)
        {
            // The time of a paused connection does not count: Resume begins it anew.
            connection.Shard.Timers.Arm(_idle!, left > TimeSpan.Zero ? left : IdleTimeout);
            return;
        }

        connection.Close(DisconnectReason.IdleTimeout, CloseMode.Orderly, $"nothing received for {IdleTimeout}");
    }
}
