using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>
/// One peer's connection over a wire, from the open transport to the last returned buffer. Runs on its shard, except members marked "any
/// thread".
/// </summary>
internal sealed partial class Connection : ShardWork, IWireEvents
{
    private const int Started = 1;
    private const int Readable = 2;
    private const int Resumed = 4;
    private const int CloseWanted = 8;
    private const int MoreToRead = 16;
    private const int PrefetchReason = 32;
    private const int SendingEnded = 64;
    private const int WriteFailed = 128;
    private const int SinkRequested = 256;
    private const int OutputEnded = 512;

    private readonly IConnectionSink _sink;
    private readonly ConnectionWriter _writer;
    private readonly ConnectionReader _reader;
    private PausedReader? _paused;
    private bool _started;

    public Connection(
        Wire wire,
        ShardLoop shard,
        BufferPool pool,
        ConnectionSettings settings,
        IConnectionSink sink,
        OutboundQueue outbound)
    {
        Wire = wire;
        Shard = shard;
        Settings = settings;
        _sink = sink;
        Outbound = outbound;
        _writer = new ConnectionWriter(this);
        _reader = new ConnectionReader(this, sink, _writer, pool);
        wire.Attach(this);
    }

    public Wire Wire { get; }

    public ShardLoop Shard { get; }

    public ConnectionSettings Settings { get; }

    public OutboundQueue Outbound { get; }

    public FairLimit? Unfinished { init => _reader.Unfinished = value; }

    /// <summary>The peer's end leaves our side open, and what comes is delivered until the peer ends.</summary>
    public bool EndsByHalves { get; init; }

    public bool OutboundSurvives { get; set; }

    public bool OutboundStays { get; private set; }

    public long ReceivedMessages => _reader.ReceivedMessages;

    public long ReceivedBytes => _reader.ReceivedBytes;

    public long LastReadAt => _reader.LastReadAt;

    /// <summary>Any thread.</summary>
    public TimeSpan SinceLastRead => Shard.Timers.Time.GetElapsedTime(_reader.LastReadAt);

    /// <summary>Any thread.</summary>
    public TimeSpan SinceLastWrite => Shard.Timers.Time.GetElapsedTime(_writer.LastWriteAt);

    public long Writes => _writer.Writes;

    public long PartialReads => _reader.PartialReads;

    public bool IsPaused => _reader.IsPaused;

    /// <summary>
    /// Any thread, once. The first wait for input begins here: the runtime spreads sockets over its epoll threads by their first operation,
    /// so with inline completions a shard's connections share one epoll thread.
    /// </summary>
    public void Start()
    {
        Shard.Post(this, Wire.WaitForInput() ? Started : Started | Readable);
    }

    /// <summary>Any thread, after an append that returned <c>schedule</c>.</summary>
    public void ScheduleFlush()
    {
        _writer.Schedule();
        CallerFlush.Record(Shard);
    }

    /// <summary>Any thread. The flush stands behind the reads that wait, so it takes what is appended until then.</summary>
    public void ScheduleLateFlush() => Shard.Post(_writer, ConnectionWriter.FlushWanted);

    /// <inheritdoc cref="ShardLoop.TryFlush"/>
    public void TryFlush() => Shard.TryFlush(_writer, ConnectionWriter.FlushWanted);

    /// <summary>Any thread.</summary>
    public void Resume() => Shard.Post(this, Resumed);

    /// <summary>
    /// While <paramref name="readers"/> have no capacity it waits there, and unless <paramref name="mayOvertake"/> also while others wait.
    /// </summary>
    public bool MayRead(PausedReaders readers, bool mayOvertake = true) => readers.MayRead(_paused, mayOvertake)
        || !readers.Add(_paused ??= new PausedReader(readers, Shard, Resume), mayOvertake);

    public void TryReadAhead() => Shard.TryRunNow(this, PrefetchReason);

    /// <summary>Any thread.</summary>
    public void PostToSink() => Shard.Post(this, SinkRequested);

    /// <summary>Any thread. Our side ends behind what is queued, and the peer's is read on.</summary>
    public void EndOutput() => Shard.Post(this, OutputEnded);

    /// <summary>From here on what the peer sends is dropped.</summary>
    public void DropInput()
    {
        _reader.StopDelivering();
        DiscardInput();
    }

    public void ReadAhead() => _reader.Prefetch();

    /// <inheritdoc cref="ConnectionReader.HoldReplies"/>
    public void HoldReplies() => _reader.HoldReplies();

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
            OnRequested();
        }

        if (!_started)
        {
            _started = true;
            OnStarted();
        }

        if ((reasons & Resumed) != 0)
        {
            _reader.Resume();
        }

        if ((reasons & OutputEnded) != 0)
        {
            OnOutputEnded();
        }

        if ((reasons & SendingEnded) != 0)
        {
            OnSendingEnded();
        }

        if ((reasons & Readable) != 0)
        {
            _reader.OnReadable();
        }
        else if ((reasons & MoreToRead) != 0)
        {
            _reader.ContinueReading();
        }
        else if (reasons == PrefetchReason)
        {
            _reader.Prefetch();
        }

        if ((reasons & SinkRequested) != 0)
        {
            _sink.OnPosted(this);
        }

        if ((reasons & WriteFailed) != 0)
        {
            _reader.ReadRemaining();
        }
    }

    internal override void OnFault(Exception exception)
    {
        if (IsClosed)
        {
            return;
        }

        if (exception is OutOfMemoryException)
        {
            EndForMemory();
            return;
        }

        try
        {
            _sink.OnFault(this, exception);
        }
        finally
        {
            EndBy(DisconnectReason.HandlerFailed, ExceptionText.MessageOf(exception));
        }
    }

    /// <summary>On the shard. There is no buffer for what the peer sends.</summary>
    internal void EndForMemory() =>
        EndBy(DisconnectReason.OutOfMemory, "no memory for a buffer, even after the pool released its retained buffers");

    private void EndBy(DisconnectReason reason, string detail)
    {
        if (Shard.IsHelped)
        {
            // A close calls the handler, which must not run on a sender's stack.
            RequestClose(reason, CloseMode.Abort);
        }
        else
        {
            Close(reason, CloseMode.Abort, detail);
        }
    }

    internal override string Describe() => $"{_sink.Name} of connection {EndpointText.Printable($"{Wire.RemoteEndPoint}")}";

    private void NotifyClosing(DisconnectReason reason, string? detail)
    {
        _reader.Stop();
        OutboundStays = OutboundSurvives && reason is not (DisconnectReason.Local or DisconnectReason.ContextTerminated);
        if (OutboundStays)
        {
            Outbound.PauseSending();
        }
        else
        {
            Outbound.Close();
        }

        _sink.OnClosing(this, reason, detail);
    }

    /// <summary>Flushes also while another call owns the flush.</summary>
    public void FlushNow() => _writer.Flush();

    internal void NotifyFlushed()
    {
        EndSending();
        if (OutboundStays)
        {
            _writer.Stop(keep: true); // The next connection must not wait until the peer ends its side of this one.
        }

        _sink.OnFlushed(this);
    }

    internal void DropBehindUnread() => Shard.Post(this, WriteFailed);

    /// <summary>Unread input would turn our close into a reset.</summary>
    private void DiscardInput()
    {
        _reader.EndPause();
        ReadOn();
    }

    internal void ReadOn() => Shard.Post(this, MoreToRead);

    private void OnStarted()
    {
        Shard.Counters.Connections++;
        if (!IsOpen)
        {
            return;
        }

        _reader.Start();
        _writer.WatchQuiet();
        _sink.OnOpened(this);
        _reader.ContinueReading();
    }
}

internal sealed record ConnectionSettings
{
    public required long MessageLimit { get; init; }

    public required QueueLimits Outbound { get; init; }

    public required TimeSpan IdleTimeout { get; init; }

    public required TimeSpan WriteTimeout { get; init; }

    public required TimeSpan Linger { get; init; }

    public required TimeSpan CloseTimeout { get; init; }
}

/// <summary>Takes what a connection reads. Called on the connection's shard, one call at a time.</summary>
internal interface IConnectionSink
{
    string Name { get; }

    void OnOpened(Connection connection);

    /// <summary>
    /// The most bytes of the next read; 0: none, and the sink resumes the connection later. Asked after a wait, not behind each read.
    /// <paramref name="pastLimits"/>: The connection is lost, and what the peer has sent is read whatever the limits say.
    /// </summary>
    int MostToRead(Connection connection, bool pastLimits);

    /// <summary>
    /// Gets what no earlier call has taken, with what was read now behind it, and takes the whole frames. If the bytes violate the
    /// protocol, the sink closes the connection.
    /// </summary>
    InboundResult OnBytes(Connection connection, in InboundBytes bytes);

    void OnFlushed(Connection connection)
    {
    }

    void OnPosted(Connection connection)
    {
    }

    /// <summary>In order, behind all input. Perhaps more than once.</summary>
    void OnInputEnded(Connection connection)
    {
    }

    void OnClosing(Connection connection, DisconnectReason reason, string? detail);

    void OnClosed(Connection connection);

    void OnFault(Connection connection, Exception exception);
}
