using System.Net;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>One peer's life over a wire, from the moment the transport is up to the last buffer given back.</summary>
/// <remarks>
/// All of it runs on the connection's shard, except what its members' comments say any thread may call. Reading: the wire tells that the
/// peer has something, the shard then reads it into its own slab. Writing: <see cref="ConnectionWriter"/>. Ending: <see cref="ConnectionCloser"/>.
/// </remarks>
internal sealed class Connection : ShardWork, IWireEvents
{
    private const int Started = 1;
    private const int Readable = 2;
    private const int Resumed = 4;
    private const int CloseWanted = 8;
    private const int MoreToRead = 16;
    private const int LookAhead = 32;
    private const int SendingEnded = 64;
    private const int WriteFailed = 128;

    // A connection's turn is so many reads of up to 64 KiB, or of one large frame each: then the others of its shard get theirs.
    private const int MaxReadsPerTurn = 4;

    // What a lost peer had sent: 16 MiB in reads of 64 KiB, more than the system keeps for a connection unless it is told to (6 MiB).
    private const int MaxReadsOfRest = 256;

    private readonly IConnectionSink _sink;
    private readonly IFrameScanner _scanner;
    private readonly BufferPool _pool;
    private readonly ConnectionCloser _closer;
    private readonly ConnectionWriter _writer;
    private FrameReader _reader;
    private UnfinishedShare _unfinished;
    private readonly IdleWatch? _idle;
    private bool _started;
    private bool _readPending = true; // The first wait is begun by Start, beside the shard: told to close before that, the shard must not begin a second one.
    private bool _parked;
    private bool _owesAnswers;

    public Connection(Wire wire, ShardLoop shard, BufferPool pool, ConnectionSettings settings, IConnectionSink sink, object? context, ByteBudget? budget = null)
        : this(wire, shard, pool, settings, sink, context, new OutboundQueue(pool, settings.Outbound, budget), settings.StreamScanner)
    {
    }

    /// <param name="wire">The peer's bytes; owned from here on.</param>
    /// <param name="shard">Where all of it runs.</param>
    /// <param name="pool">The context's pool.</param>
    /// <param name="settings">The endpoint's settings.</param>
    /// <param name="sink">Who receives what is read.</param>
    /// <param name="context">What the layer above keeps with this connection.</param>
    /// <param name="outbound">What is to be written; it may outlive this connection, see <see cref="OutboundSurvives"/>.</param>
    /// <param name="scanner">Finds the frames in what is read.</param>
    public Connection(Wire wire, ShardLoop shard, BufferPool pool, ConnectionSettings settings, IConnectionSink sink, object? context, OutboundQueue outbound, IFrameScanner scanner)
    {
        Wire = wire;
        Shard = shard;
        Settings = settings;
        Context = context;
        _pool = pool;
        _sink = sink;
        _scanner = scanner;
        Outbound = outbound;
        _closer = new ConnectionCloser(this);
        _writer = new ConnectionWriter(this, _closer);
        _idle = settings.IdleTimeout > TimeSpan.Zero ? new IdleWatch(this, settings.IdleTimeout) : null;
        wire.Attach(this);
    }

    public Wire Wire { get; }

    public ShardLoop Shard { get; }

    public ConnectionSettings Settings { get; }

    public OutboundQueue Outbound { get; }

    /// <summary>Where what the peer has begun and not ended is counted; without it there is no limit.</summary>
    public UnfinishedBytes? Unfinished { init => _unfinished = new UnfinishedShare(value); }

    /// <summary>When this connection is lost, what was not yet handed over stays queued for the next one. Set on the shard.</summary>
    public bool OutboundSurvives { get; set; }

    /// <summary>Of a connection that is closing: what is queued stays for the next one.</summary>
    public bool OutboundStays { get; private set; }

    /// <summary>What the layer above keeps with this connection.</summary>
    public object? Context { get; set; }

    public EndPoint? RemoteEndPoint { get; init; }

    public EndPoint? LocalEndPoint { get; init; }

    /// <summary>Frames and payload-with-header bytes read so far; written on the shard, read by anyone.</summary>
    public long ReceivedMessages { get; private set; }

    public long ReceivedBytes { get; private set; }

    /// <summary>Stopwatch times of the last read and the last completed write.</summary>
    public long LastReadAt { get; private set; }

    public long LastWriteAt => _writer.LastWriteAt;

    /// <summary>How many reads brought a part of a frame and no end of one: a large one is coming in. On the shard.</summary>
    public long PartialReads { get; private set; }

    /// <summary>True while reading is stopped because the receiver is full or busy.</summary>
    public bool IsParked => _parked;

    /// <summary>Begins the connection's life on its shard. Any thread, once.</summary>
    /// <remarks>
    /// The first wait for input is begun here, not on the shard: the runtime spreads sockets over its epoll threads in the order of their first operation, and shards are
    /// given out in the same order. With inline completions a shard's connections then share one epoll thread, and no two of these wait for the same shard.
    /// </remarks>
    public void Start()
    {
        Shard.Post(this, Wire.WaitForInput() ? Started : Started | Readable);
    }

    /// <summary>Asks for a flush after an append that got the write turn. Any thread.</summary>
    public void ScheduleFlush() => _writer.Schedule();

    /// <summary>Lets a parked connection read again. Any thread.</summary>
    public void Resume() => Shard.Post(this, Resumed);

    /// <summary>Reads what the peer may have sent, on the calling thread, unless the shard is busy: for a thread of the application that would block otherwise.</summary>
    public void TryReadAhead() => Shard.TryRunNow(this, LookAhead);

    /// <summary>Asks the connection to end. Any thread; the first reason wins, a later abort speeds it up.</summary>
    public void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger = null)
    {
        if (_closer.Request(reason, mode, linger))
        {
            Shard.Post(this, CloseWanted);
        }
    }

    bool IWireEvents.IsBusy => Shard.IsBusy;

    void IWireEvents.OnInput() => Shard.RunOrPost(this, Readable);

    void IWireEvents.OnSent() => _writer.OnSent();

    void IWireEvents.OnEnded() => Shard.RunOrPost(this, SendingEnded);

    internal override void Run(int reasons)
    {
        if ((reasons & CloseWanted) != 0)
        {
            _closer.OnRequested();
        }

        if (!_started)
        {
            // The first completion may be here before the post of Start.
            _started = true;
            OnStarted();
        }

        if ((reasons & Resumed) != 0 && _parked && _closer.IsOpen)
        {
            _parked = false;
            _idle?.Touch();
            GoOnReading();
        }

        if ((reasons & SendingEnded) != 0)
        {
            _closer.OnSendingEnded();
        }

        if ((reasons & Readable) != 0)
        {
            OnReadable();
        }
        else if ((reasons & MoreToRead) != 0)
        {
            GoOnReading();
        }
        else if (reasons == LookAhead && _started && !_parked && _closer.IsOpen && _sink.MayRead(this))
        {
            // The wait for input goes on; what it reports later is read already, or more has come.
            ReadLoop();
        }

        if ((reasons & WriteFailed) != 0)
        {
            TakeRest();
            _closer.OnLost();
        }
    }

    internal override void OnFault(Exception exception)
    {
        if (!_closer.IsClosed)
        {
            try
            {
                _sink.OnFault(this, exception);
            }
            finally
            {
                if (Shard.IsHelped)
                {
                    // The end of a connection calls its handler, which has no business on a sender's stack.
                    RequestClose(DisconnectReason.HandlerFailed, CloseMode.Abort);
                }
                else
                {
                    _closer.Begin(DisconnectReason.HandlerFailed, CloseMode.Abort, ExceptionText.MessageOf(exception));
                }
            }
        }
    }

    internal override string Describe() => $"{_sink.Name} of connection {EndpointText.Printable($"{RemoteEndPoint}")}";

    /// <summary>The closer has stopped the connection for frames and sends: tell the layer above.</summary>
    internal void NotifyClosing(DisconnectReason reason, string? detail)
    {
        _idle?.Stop();
        OutboundStays = OutboundSurvives && reason is not (DisconnectReason.Local or DisconnectReason.ContextTerminated);
        if (OutboundStays)
        {
            Outbound.Hold();
        }
        else
        {
            Outbound.Close();
        }

        _sink.OnClosing(this, reason, detail);
    }

    /// <summary>Ends the connection, on its shard. The first reason wins; an abort speeds up an orderly end.</summary>
    public void Close(DisconnectReason reason, CloseMode mode, string? detail) => _closer.Begin(reason, mode, detail);

    /// <summary>Writes what is queued as far as the kernel takes it, on the shard, whoever holds the write turn; the closer hears when nothing is left.</summary>
    public void FlushNow() => _writer.Flush();

    /// <summary>True until the connection begins to close. On the shard.</summary>
    public bool IsOpen => _closer.IsOpen;

    /// <summary>Our side is ended: nothing more is written, though the peer may not have ended its side yet. On the shard.</summary>
    public bool HasEndedWriting => _closer.IsFlushed || _closer.IsClosed;

    /// <summary>Everything queued is with the kernel.</summary>
    internal void NotifyFlushed()
    {
        _closer.OnFlushed();
        if (OutboundStays)
        {
            _writer.Stop(keep: true); // The next connection need not wait until the peer ends its side of this one.
        }

        _sink.OnFlushed(this);
    }

    /// <summary>A write has failed, for good.</summary>
    internal void LoseBehindRest() => Shard.Post(this, WriteFailed);

    /// <summary>Reads on in order to throw away, until the peer ends its side: unread input would turn our close into a reset.</summary>
    internal void DiscardInput()
    {
        _parked = false;
        Shard.Post(this, MoreToRead);
    }

    /// <summary>Lets go of everything. The closer calls it once, when the connection is over.</summary>
    /// <param name="isToEndOurSide">Nothing is reset: what the system has taken of us and the peer has not goes on. Where our side has ended that is so anyway.</param>
    internal void Teardown(bool isToEndOurSide)
    {
        _idle?.Stop();
        _writer.Stop(OutboundStays);
        _reader.Release(_pool);
        _unfinished.TryHold(0);
        if (isToEndOurSide)
        {
            Wire.KeepFromReset();
        }

        Wire.Dispose();
        _writer.Release();
        Shard.Counters.Connections--;
        _sink.OnClosed(this);
    }

    private void OnStarted()
    {
        Shard.Counters.Connections++;
        Shard.Watchdog?.Start();
        if (!_closer.IsOpen)
        {
            return;
        }

        LastReadAt = Shard.Now;
        _writer.Start(Shard.Now);
        _idle?.Start();
        _sink.OnOpened(this);
        GoOnReading();
    }

    private void OnReadable()
    {
        CacheLines.Fetch(_closer, _writer, Context); // For behind the read, which takes a microsecond or, with decryption, ten.
        CacheLines.FetchLarge(Outbound);
        WireStatus status = Wire.FinishWait();
        _readPending = status == WireStatus.WouldWait;
        if (_readPending || _closer.IsClosed)
        {
            return;
        }

        if (status != WireStatus.Failed)
        {
            GoOnReading();
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

    private void GoOnReading()
    {
        if (_readPending || _closer.IsClosed)
        {
            return;
        }

        if (!_closer.IsOpen)
        {
            _closer.Discard(MaxReadsPerTurn);
        }
        else if (!_parked)
        {
            if (_sink.MayRead(this))
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
        for (int i = 0; i < MaxReadsPerTurn; i++)
        {
            int kept = _reader.Kept;
            ReadOutcome outcome = _reader.Read(Wire, Shard.ReceiveSlab, _pool, _scanner, out InboundBatch batch);
            if (batch.Frames > 0)
            {
                _parked |= Deliver(batch) == Delivery.Park;
            }
            else if (_reader.Kept > kept)
            {
                OnPartOfFrame();
            }

            if (!_unfinished.TryHold(_reader.Held + _sink.UnfinishedBytes))
            {
                _sink.OnUnfinished(this, _unfinished.Words);
                _reader.Release(_pool); // Now, and not when the peer has ended its side.
                _unfinished.TryHold(0);
            }

            WireStatus wait = WireStatus.WouldWait;
            if (_closer.IsOpen && !_reader.IsBroken && !_parked)
            {
                wait = outcome switch { ReadOutcome.More => WireStatus.Done, ReadOutcome.Drained => WaitForInput(), _ => wait };
                if (wait == WireStatus.Done)
                {
                    continue;
                }
            }

            PayAnswers();
            if (!_closer.IsOpen)
            {
                return;
            }

            if (_reader.IsBroken)
            {
                _sink.OnBroken(this, _reader.Announced);
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
                _closer.Begin(DisconnectReason.TransportError, CloseMode.Orderly, Wire.Detail, linger: TimeSpan.Zero);
                return;
            }

            if (outcome == ReadOutcome.Failed || wait == WireStatus.Failed)
            {
                _closer.OnLost();
            }

            return;
        }

        PayAnswers();
        Shard.Post(this, MoreToRead);
    }

    /// <summary>
    /// The peer is gone. What it had sent before that is here, and it may have counted on it: that is taken in, past the limits, as there will be nobody to read on for when there is room again.
    /// </summary>
    private void TakeRest()
    {
        ReadOutcome outcome = ReadOutcome.More;
        for (int reads = 0; reads < MaxReadsOfRest && outcome == ReadOutcome.More && _closer.IsOpen && !_reader.IsBroken && (!_parked || _sink.MayTakeRest(this)); reads++)
        {
            outcome = _reader.Read(Wire, Shard.ReceiveSlab, _pool, _scanner, out InboundBatch batch);
            _parked |= batch.Frames > 0 && Deliver(batch) == Delivery.Park;
        }
    }

    /// <summary>
    /// Waits for input. WouldWait: it is awaited. Done: there is input. Failed: an error, which the system reports only this once (the next read would take a reset for an orderly end).
    /// </summary>
    internal WireStatus WaitForInput()
    {
        if (_readPending)
        {
            return WireStatus.WouldWait;
        }

        WireStatus status = Wire.WaitForInput() ? WireStatus.WouldWait : Wire.FinishWait();
        _readPending = status == WireStatus.WouldWait;
        return status;
    }

    private Delivery Deliver(in InboundBatch batch)
    {
        ReceivedMessages += batch.Frames;
        ReceivedBytes += batch.Length;
        LastReadAt = Shard.Now;
        _idle?.Touch();
        bool owedBefore = _owesAnswers;
        _owesAnswers = owedBefore || (_sink.AnswersInPlace && Outbound.TryTakeTurn());
        bool isDone = false;
        try
        {
            Delivery delivery = _sink.OnFrames(this, batch);
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
            if (isDone ? !Wire.IsPacked : owedBefore)
            {
                PayAnswers();
            }
        }
    }

    /// <summary>Writes what the handler has answered.</summary>
    private void PayAnswers()
    {
        if (_owesAnswers)
        {
            _owesAnswers = false;
            _writer.Flush();
        }
    }

    /// <summary>A read brought no end of a frame, but something of one.</summary>
    private void OnPartOfFrame()
    {
        PartialReads++;
        LastReadAt = Shard.Now;
        _idle?.Touch();
    }
}
