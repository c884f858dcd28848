using System.Diagnostics;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>The reading half of a connection: whole frames of what the wire has go to the sink, and what the sink answers in place to the writer. On the shard.</summary>
internal sealed class ConnectionReader
{
    // A connection's turn is so many reads of up to 64 KiB, or of one large frame each: then the others of its shard get theirs.
    private const int MaxReadsPerTurn = 4;

    // What a lost peer had sent: 16 MiB in reads of 64 KiB, more than the system keeps for a connection unless it is told to (6 MiB).
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
    private bool _waits = true; // The first wait is begun by Connection.Start, beside the shard: told to close before that, the shard must not begin a second one.
    private bool _parked;
    private bool _hasUnflushedReplies;

    public ConnectionReader(Connection connection, IConnectionSink sink, ConnectionCloser closer, ConnectionWriter writer, IFrameScanner scanner, BufferPool pool)
    {
        _connection = connection;
        _sink = sink;
        _closer = closer;
        _writer = writer;
        _scanner = scanner;
        _pool = pool;
        LastReadAt = connection.Shard.Timers.Timestamp(); // Until the shard begins, as for the IdleWatch.
        TimeSpan limit = connection.Settings.IdleTimeout;
        _idle = limit > TimeSpan.Zero ? new IdleWatch(connection, limit) : null;
    }

    /// <summary>Where what the peer has begun and not ended is counted; before the start.</summary>
    public FairLimit? Unfinished
    {
        set => _unfinished = new FairLimitShare(value);
    }

    /// <summary>Frames and payload-with-header bytes read so far; written on the shard, read by anyone.</summary>
    public long ReceivedMessages { get; private set; }

    /// <inheritdoc cref="ReceivedMessages"/>
    public long ReceivedBytes { get; private set; }

    /// <summary>When the last read was, or the peer came, in timestamps of the context's clock; read by anyone.</summary>
    public long LastReadAt { get; private set; }

    /// <summary>How many reads brought a part of a frame and no end of one: a large one is coming in.</summary>
    public long PartialReads { get; private set; }

    /// <summary>True while reading is stopped because the receiver is full or busy.</summary>
    public bool IsParked => _parked;

    /// <summary>The peer is there, and silent from here on.</summary>
    public void Start() => _idle?.Start();

    /// <summary>The receiver has room again.</summary>
    public void Resume()
    {
        if (_parked && _closer.IsOpen)
        {
            _parked = false;
            _idle?.Touch();
            ContinueReading();
        }
    }

    /// <summary>The receiver is asked no more: what comes is thrown away.</summary>
    public void Unpark() => _parked = false;

    /// <summary>Reads what may be there although it is waited for.</summary>
    public void Prefetch()
    {
        if (!_parked && _closer.IsOpen && _sink.MayRead(_connection))
        {
            // The wait for input goes on; what it reports later is read already, or more has come.
            ReadLoop();
        }
    }

    /// <summary>How long the peer is silent does not matter any more.</summary>
    public void Stop() => _idle?.Stop();

    /// <summary>Lets go of what has come of a frame.</summary>
    public void Release()
    {
        _frames.Release(_pool);
        _unfinished.TryReserve(0);
    }

    /// <summary>The wait for input is over.</summary>
    public void OnReadable()
    {
        CacheLines.Fetch(_closer, _writer, _connection.Context); // For behind the read, which takes a microsecond or, with decryption, ten.
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
        else if (_closer.IsOpen)
        {
            _closer.OnLost();
        }
        else
        {
            _closer.OnPeerEnded();
        }
    }

    /// <summary>Reads, unless that is waited for, or the receiver is to take what it has first.</summary>
    public void ContinueReading()
    {
        if (_waits || _closer.IsClosed)
        {
            return;
        }

        if (!_closer.IsOpen)
        {
            _closer.Discard(MaxReadsPerTurn);
        }
        else if (!_parked)
        {
            if (_sink.MayRead(_connection))
            {
                ReadLoop();
            }
            else
            {
                _parked = true;
            }
        }
    }

    private void ReadLoop()
    {
        // What a read brings may be long to work off: 64 KiB of topics took a publisher 10 ms, and four such reads in a row 40 that every other connection of the shard waited. So a connection's turn is no longer than the shard's.
        long end = Stopwatch.GetTimestamp() + ShardLoop.MaxTicksPerTurn;
        for (int i = 0; i < MaxReadsPerTurn && (i == 0 || Stopwatch.GetTimestamp() < end); i++)
        {
            int kept = _frames.BufferedBytes;
            ReadOutcome outcome = _frames.Read(_connection.Wire, _connection.Shard.ReceiveSlab, _pool, _scanner, out InboundBatch batch);
            if (batch.Frames > 0)
            {
                _parked |= Deliver(batch) == Delivery.Park;
            }
            else if (_frames.BufferedBytes > kept)
            {
                OnPartOfFrame();
            }

            if (!_unfinished.TryReserve(_frames.RetainedMemory + _sink.UnfinishedBytes))
            {
                _sink.OnUnfinished(_connection, _unfinished.Words("messages that are not whole yet", nameof(DisconnectReason.UnfinishedByteLimit)));
                Release(); // Now, and not when the peer has ended its side.
            }

            WireStatus wait = WireStatus.WouldWait;
            if (_closer.IsOpen && !_frames.IsBroken && !_parked)
            {
                wait = outcome switch { ReadOutcome.More => WireStatus.Done, ReadOutcome.Drained => WaitForInput(), _ => wait };
                if (wait == WireStatus.Done)
                {
                    continue;
                }
            }

            FlushReplies();
            if (!_closer.IsOpen)
            {
                return;
            }

            if (_frames.IsBroken)
            {
                _sink.OnBroken(_connection, _frames.Announced);
                return;
            }

            if (outcome == ReadOutcome.EndOfStream)
            {
                _closer.OnPeerEnded();
                return;
            }

            if (outcome == ReadOutcome.Refused)
            {
                // Nothing of ours can follow what the transport has told the peer: what waits is dropped. Not our protocol's fault: who connects tries again (docs/protocol.md, 17.2).
                _closer.Begin(DisconnectReason.TransportError, CloseMode.Orderly, _connection.Wire.Detail, linger: TimeSpan.Zero);
                return;
            }

            if (outcome == ReadOutcome.Failed || wait == WireStatus.Failed)
            {
                _closer.OnLost();
            }

            return;
        }

        FlushReplies();
        _connection.ReadOn();
    }

    /// <summary>
    /// The peer is gone. What it had sent before that is here, and it may have counted on it: that is taken in, past the limits, as there will be nobody to read on for when there is room again.
    /// </summary>
    public void ReadRemaining()
    {
        ReadOutcome outcome = ReadOutcome.More;
        for (int reads = 0; reads < MaxFinalReads && outcome == ReadOutcome.More && _closer.IsOpen && !_frames.IsBroken && (!_parked || _sink.MayReadRemaining(_connection)); reads++)
        {
            outcome = _frames.Read(_connection.Wire, _connection.Shard.ReceiveSlab, _pool, _scanner, out InboundBatch batch);
            _parked |= batch.Frames > 0 && Deliver(batch) == Delivery.Park;
        }
    }

    /// <summary>
    /// Waits for input. WouldWait: it is awaited. Done: there is input. Failed: an error, which the system reports only this once (the next read would take a reset for an orderly end).
    /// </summary>
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

    private Delivery Deliver(in InboundBatch batch)
    {
        ReceivedMessages += batch.Frames;
        ReceivedBytes += batch.Length;
        LastReadAt = _connection.Shard.Now;
        _idle?.Touch();
        bool owedBefore = _hasUnflushedReplies;
        _hasUnflushedReplies = owedBefore || (_sink.RepliesSynchronously && _connection.Outbound.TryAcquireFlush());
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

            // What was answered leaves before more is read; over a packing transport not before there is nothing more at hand, or a peer's burst that was cut in three once would be cut in three for ever.
            if (isDone ? !_connection.Wire.IsPacked : owedBefore)
            {
                FlushReplies();
            }
        }
    }

    /// <summary>Writes what the handler has answered.</summary>
    private void FlushReplies()
    {
        if (_hasUnflushedReplies)
        {
            _hasUnflushedReplies = false;
            _writer.Flush();
        }
    }

    /// <summary>A read brought no end of a frame, but something of one.</summary>
    private void OnPartOfFrame()
    {
        PartialReads++;
        LastReadAt = _connection.Shard.Now;
        _idle?.Touch();
    }
}
