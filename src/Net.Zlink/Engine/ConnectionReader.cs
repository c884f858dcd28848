using System.Diagnostics;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

internal sealed class ConnectionReader
{
    // Reads of up to 64 KiB, or of one large frame, before the shard's other connections read.
    private const int MaxReadsPerTurn = 4;

    // After a loss: 16 MiB in reads of 64 KiB, more than the system's default buffers hold (6 MiB).
    private const int MaxFinalReads = 256;

    private readonly Connection _connection;
    private readonly IConnectionSink _sink;
    private readonly ConnectionCloser _closer;
    private readonly ConnectionWriter _writer;
    private readonly IFrameScanner _scanner;
    private readonly BufferPool _pool;
    private readonly IdleWatch? _idle;
    private FrameReader _frames;
    private FairLimitShare _unfinished;
    private bool _waits = true; // Connection.Start begins the first wait, off the shard.
    private bool _paused;
    private bool _drops;
    private bool _hasUnflushedReplies;
    private long? _finalLimit;

    public ConnectionReader(
        Connection connection,
        IConnectionSink sink,
        ConnectionCloser closer,
        ConnectionWriter writer,
        IFrameScanner scanner,
        BufferPool pool)
    {
        _connection = connection;
        _sink = sink;
        _closer = closer;
        _writer = writer;
        _scanner = scanner;
        _pool = pool;
        LastReadAt = connection.Shard.Timers.Timestamp();
        TimeSpan limit = connection.Settings.IdleTimeout;
        _idle = limit > TimeSpan.Zero ? new IdleWatch(connection, limit) : null;
    }

    public FairLimit? Unfinished
    {
        set => _unfinished = new FairLimitShare(value);
    }

    /// <summary>Written on the shard, read by any thread.</summary>
    public long ReceivedMessages { get; private set; }

    public long ReceivedBytes { get; private set; }

    /// <summary>Any thread.</summary>
    public long LastReadAt { get; private set; }

    public long PartialReads { get; private set; }

    public bool IsPaused => _paused;

    public void Start() => _idle?.Start();

    public void Resume()
    {
        if (_paused && Delivers)
        {
            _paused = false;
            _idle?.Touch();
            ContinueReading();
        }
    }

    public void EndPause() => _paused = false;

    public void StopDelivering() => _drops = true;

    private bool Delivers => (_closer.IsOpen || _connection.EndsByHalves) && !_drops;

    public void Prefetch()
    {
        if (!_paused && _closer.IsOpen && _sink.MayRead(_connection))
        {
            ReadLoop();
        }
    }

    public void Stop() => _idle?.Stop();

    public void Release()
    {
        _frames.Release(_pool);
        _unfinished.TryReserve(0);
    }

    public void OnReadable()
    {
        // Prefetches for the code after the read, which takes a microsecond, or ten with decryption.
        CacheLines.Fetch(_closer, _writer, _connection.Context);
        CacheLines.FetchLarge(_connection.Outbound);
        WireStatus status = _connection.Wire.FinishWait();
        _waits = status == WireStatus.WouldWait;
        if (_waits || _closer.IsClosed)
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
        if (_closer.IsOpen)
        {
            _closer.OnLost();
        }
        else
        {
            _closer.OnPeerEnded();
        }
    }

    public void ContinueReading()
    {
        if (!_waits && !_closer.IsClosed)
        {
            if (!Delivers)
            {
                _idle?.Touch();
                _closer.Discard(MaxReadsPerTurn);
            }
            else if (!_paused)
            {
                ReadOrPause();
            }
        }

        if (_finalLimit is not null && _closer.IsOpen && (_waits ? !_connection.Wire.HasUnread : !IsReadingRemaining))
        {
            _closer.OnLost();
        }
    }

    private void ReadOrPause()
    {
        if (IsReadingRemaining || _sink.MayRead(_connection))
        {
            ReadLoop();
        }
        else
        {
            _paused = true;
        }
    }

    private void ReadLoop()
    {
        // One read can take long to process: 64 KiB of topics took a publisher 10 ms, and four such reads delayed the shard's other
        // connections by 40 ms.
        long end = Stopwatch.GetTimestamp() + ShardLoop.MaxTicksPerTurn;
        for (int i = 0; i < MaxReadsPerTurn && (i == 0 || Stopwatch.GetTimestamp() < end); i++)
        {
            int kept = _frames.BufferedBytes;
            ReadOutcome outcome = _frames.Read(_connection.Wire, _connection.Shard.ReceiveSlab, _pool, _scanner, out InboundBatch batch);
            if (batch.Frames > 0)
            {
                _paused |= Deliver(batch) == Delivery.Pause && !IsReadingRemaining;
            }
            else if (_frames.BufferedBytes > kept)
            {
                OnPartOfFrame();
            }

            if (_frames.IsOutOfMemory)
            {
                FlushReplies();
                _connection.EndForMemory();
                return;
            }

            if (!_unfinished.TryReserve(_frames.RetainedMemory + _sink.UnfinishedBytes))
            {
                string detail = _unfinished.Words("incomplete messages", nameof(DisconnectReason.UnfinishedByteLimit));
                _sink.OnUnfinished(_connection, detail);
                Release();
            }

            WireStatus wait = WireStatus.WouldWait;
            if (Delivers && !_frames.IsBroken && !_paused)
            {
                wait = outcome switch { ReadOutcome.More => WireStatus.Done, ReadOutcome.Drained => WaitForInput(), _ => wait };
                if (wait == WireStatus.Done)
                {
                    continue;
                }
            }

            FlushReplies();
            if (!Delivers)
            {
                return;
            }

            if (_frames.IsBroken)
            {
                _sink.OnBroken(_connection, _frames.Announced);
                return;
            }

            if (outcome == ReadOutcome.EndOfStream && _finalLimit is null)
            {
                _sink.OnInputEnded(_connection);
                _closer.OnPeerEnded();
                return;
            }

            if (outcome == ReadOutcome.Refused && _closer.IsOpen)
            {
                // The transport has sent its error, and no message can follow: queued messages are dropped.
                _closer.Begin(DisconnectReason.TransportError, CloseMode.Orderly, _connection.Wire.Detail, linger: TimeSpan.Zero);
                return;
            }

            if (outcome is ReadOutcome.Failed or ReadOutcome.EndOfStream or ReadOutcome.Refused || wait == WireStatus.Failed)
            {
                OnLost();
            }

            return;
        }

        FlushReplies();
        _connection.ReadOn();
    }

    /// <summary>
    /// A write has failed. What the peer sent before is delivered past the limits, since no connection remains to be resumed later. Then
    /// the connection ends. A wire with a buffer of its own cannot be read beyond that at once: it is read until it ends or has failed.
    /// </summary>
    public void ReadRemaining()
    {
        if (_closer.IsOpen)
        {
            _finalLimit = ReceivedBytes + (MaxFinalReads * (long)ReceiveSlab.ReadSize);
            if (_connection.Wire.HasOwnBuffer)
            {
                _paused &= !IsReadingRemaining;
                ContinueReading();
                return;
            }

            ReadAll();
        }

        _closer.OnLost();
    }

    private bool IsReadingRemaining => ReceivedBytes < _finalLimit && _sink.MayReadRemaining(_connection);

    private void ReadAll()
    {
        ReadOutcome outcome = ReadOutcome.More;
        for (int reads = 0; reads < MaxFinalReads && outcome == ReadOutcome.More && MayReadAll; reads++)
        {
            outcome = _frames.Read(_connection.Wire, _connection.Shard.ReceiveSlab, _pool, _scanner, out InboundBatch batch);
            _paused |= batch.Frames > 0 && Deliver(batch) == Delivery.Pause;
        }
    }

    /// <summary>A failed socket reports its error once: the next read would take a reset for an orderly end.</summary>
    public WireStatus WaitForInput()
    {
        if (_waits)
        {
            return WireStatus.WouldWait;
        }

        WireStatus status = _connection.Wire.WaitForInput() ? WireStatus.WouldWait : _connection.Wire.FinishWait();
        _waits = status == WireStatus.WouldWait;
        return status;
    }

    private bool MayReadAll => _closer.IsOpen
        && _frames is { IsBroken: false, IsOutOfMemory: false } && (!_paused || _sink.MayReadRemaining(_connection));

    private Delivery Deliver(in InboundBatch batch)
    {
        ReceivedMessages += batch.Frames;
        ReceivedBytes += batch.Length;
        LastReadAt = _connection.Shard.Now;
        _idle?.Touch();
        bool hadUnflushed = _hasUnflushedReplies;
        _hasUnflushedReplies = hadUnflushed || (_sink.RepliesSynchronously && _connection.Outbound.TryAcquireFlush());
        bool isDone = false;
        try
        {
            Delivery delivery = _sink.OnFrames(_connection, batch);
            isDone = true;
            return delivery;
        }
        finally
        {
            if (batch.OwnsSlab)
            {
                batch.Slab.Release();
            }

            // A packing transport writes them once no input is left: otherwise a burst that was split once stays split.
            if (isDone ? !_connection.Wire.IsPacked : hadUnflushed)
            {
                FlushReplies();
            }
        }
    }

    private void FlushReplies()
    {
        if (_hasUnflushedReplies)
        {
            _hasUnflushedReplies = false;
            _writer.Flush();
        }
    }

    private void OnPartOfFrame()
    {
        PartialReads++;
        LastReadAt = _connection.Shard.Now;
        _idle?.Touch();
    }
}
