using System.Net;
using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>One peer's life over a wire, from the moment the transport is up to the last buffer given back.</summary>
/// <remarks>
/// All of it runs on the connection's shard, except what its members' comments say any thread may call. Reading: the wire tells that the
/// peer has something: <see cref="ConnectionReader"/>. Writing: <see cref="ConnectionWriter"/>. Ending: <see cref="ConnectionCloser"/>.
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
    private const int SinkWanted = 256;

    private readonly IConnectionSink _sink;
    private readonly ConnectionCloser _closer;
    private readonly ConnectionWriter _writer;
    private readonly ConnectionReader _reader;
    private bool _started;

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
        _sink = sink;
        Outbound = outbound;
        _closer = new ConnectionCloser(this);
        _writer = new ConnectionWriter(this, _closer);
        _reader = new ConnectionReader(this, sink, _closer, _writer, scanner, pool);
        wire.Attach(this);
    }

    public Wire Wire { get; }

    public ShardLoop Shard { get; }

    public ConnectionSettings Settings { get; }

    public OutboundQueue Outbound { get; }

    /// <summary>Where what the peer has begun and not ended is counted; without it there is no limit.</summary>
    public FairLimit? Unfinished { init => _reader.Unfinished = value; }

    /// <summary>When this connection is lost, what was not yet handed over stays queued for the next one. Set on the shard.</summary>
    public bool OutboundSurvives { get; set; }

    /// <summary>Of a connection that is closing: what is queued stays for the next one.</summary>
    public bool OutboundStays { get; private set; }

    /// <summary>What the layer above keeps with this connection.</summary>
    public object? Context { get; set; }

    public EndPoint? RemoteEndPoint { get; init; }

    public EndPoint? LocalEndPoint { get; init; }

    /// <inheritdoc cref="ConnectionReader.ReceivedMessages"/>
    public long ReceivedMessages => _reader.ReceivedMessages;

    /// <inheritdoc cref="ConnectionReader.ReceivedMessages"/>
    public long ReceivedBytes => _reader.ReceivedBytes;

    /// <summary>Since the last read, or the beginning. Any thread.</summary>
    public TimeSpan SinceLastRead => Shard.Timers.Time.GetElapsedTime(_reader.LastReadAt);

    /// <summary>Since the last write that was completed, or the beginning. Any thread.</summary>
    public TimeSpan SinceLastWrite => Shard.Timers.Time.GetElapsedTime(_writer.LastWriteAt);

    /// <inheritdoc cref="ConnectionWriter.Writes"/>
    public long Writes => _writer.Writes;

    /// <inheritdoc cref="ConnectionReader.PartialReads"/>
    public long PartialReads => _reader.PartialReads;

    /// <inheritdoc cref="ConnectionReader.IsParked"/>
    public bool IsParked => _reader.IsParked;

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

    /// <summary>Has the sink called on the shard: <see cref="IConnectionSink.OnPosted"/>. Any thread.</summary>
    public void PostToSink() => Shard.Post(this, SinkWanted);

    /// <summary>Reads what the peer may have sent, as far as its turn goes. On the shard.</summary>
    public void ReadAhead() => _reader.LookAhead();

    /// <summary>Asks the connection to end. Any thread; the first reason wins, a later abort speeds it up.</summary>
    public void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger = null)
    {
        if (_closer.Request(reason, mode, linger))
        {
            Shard.Post(this, CloseWanted);
        }
    }

    bool IWireEvents.IsBusy => Shard.IsBusy;

    void IWireEvents.OnInput()
    {
        CacheLines.FetchLarge(_reader);
        Shard.RunOrPost(this, Readable);
    }

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

        if ((reasons & Resumed) != 0)
        {
            _reader.Resume();
        }

        if ((reasons & SendingEnded) != 0)
        {
            _closer.OnSendingEnded();
        }

        if ((reasons & Readable) != 0)
        {
            _reader.OnReadable();
        }
        else if ((reasons & MoreToRead) != 0)
        {
            _reader.GoOn();
        }
        else if (reasons == LookAhead)
        {
            _reader.LookAhead();
        }

        if ((reasons & SinkWanted) != 0)
        {
            _sink.OnPosted(this);
        }

        if ((reasons & WriteFailed) != 0)
        {
            _reader.TakeRest();
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
        _reader.Stop();
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

    /// <summary>The connection is lost while it delivers what was accepted before a close in order.</summary>
    internal void KeepOutbound() => OutboundStays = OutboundSurvives;

    /// <summary>Ends the connection, on its shard. The first reason wins; an abort speeds up an orderly end.</summary>
    public void Close(DisconnectReason reason, CloseMode mode, string? detail) => _closer.Begin(reason, mode, detail);

    /// <summary>The system has something of the peer's that is not read yet, be it its end: before a peer is judged for its silence. On the shard, until the wire is let go of.</summary>
    public bool HasUnread => InputWait.HasInput(Wire.Socket);

    /// <summary>As many bytes does the system hold; 0 where it cannot tell. As above.</summary>
    public int UnreadBytes
    {
        get
        {
            try
            {
                return Wire.Socket.Available;
            }
            catch (SocketException)
            {
                return 0;
            }
        }
    }

    /// <summary>Writes what is queued as far as the kernel takes it, on the shard, whoever holds the write turn; the closer hears when nothing is left.</summary>
    public void FlushNow() => _writer.Flush();

    /// <summary>True until the connection begins to close. On the shard.</summary>
    public bool IsOpen => _closer.IsOpen;

    /// <inheritdoc cref="ConnectionCloser.IsLingering"/>
    public bool IsLingering => _closer.IsLingering;

    /// <inheritdoc cref="ConnectionCloser.Discarded"/>
    public long Discarded => _closer.Discarded;

    /// <inheritdoc cref="ConnectionCloser.OnSilent"/>
    public void LoseSilent() => _closer.OnSilent();

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
        _reader.Unpark();
        ReadOn();
    }

    /// <summary>Lets the others of its shard have their turn, and then goes on reading.</summary>
    internal void ReadOn() => Shard.Post(this, MoreToRead);

    /// <inheritdoc cref="ConnectionReader.WaitForInput"/>
    internal WireStatus WaitForInput() => _reader.WaitForInput();

    /// <summary>Lets go of everything. The closer calls it once, when the connection is over.</summary>
    /// <param name="isToEndOurSide">Nothing is reset: what the system has taken of us and the peer has not goes on. Where our side has ended that is so anyway.</param>
    internal void Teardown(bool isToEndOurSide)
    {
        _reader.Stop();
        _writer.Stop(OutboundStays);
        _reader.Release();
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

        _reader.Start();
        _sink.OnOpened(this);
        _reader.GoOn();
    }
}
