using System.IO.Pipelines;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>A connection as two byte pipes, for users with a protocol of their own, without framing.</summary>
internal sealed class PipeSink : IConnectionSink
{
    // As much as a pipe holds before its writer waits.
    private static readonly QueueLimits s_limits = new(Messages: 0, Bytes: 64 * 1024);

    private static readonly FrameFormat s_unframed = new(headerSize: 0);

    private readonly StreamHub _hub;
    private readonly StreamLink _link;
    private readonly Connection _connection;
    private readonly Pipe _received;
    private readonly PipeOutput _output;
    private readonly Action _onRead;
    private readonly TaskCompletionSource _abandoned = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly CancellationTokenSource _ended = new();
    private ConfiguredValueTaskAwaitable<FlushResult>.ConfiguredValueTaskAwaiter _delivering;
    private volatile bool _isFull;
    private volatile bool _isFlushScheduled;
    private volatile bool _isOutputEnded;
    private volatile bool _isInputUnread;
    private bool _isInputEnded;
    private Task? _handling;
    private DisconnectReason _reason = DisconnectReason.Local;
    private string? _abortReason;

    public PipeSink(StreamHub hub, StreamLink link, Wire wire, ConnectionSettings settings)
    {
        _hub = hub;
        _link = link;
        _onRead = OnRead;
        _received = new Pipe(new PipeOptions(hub.Host.Pool, writerScheduler: PipeScheduler.Inline, useSynchronizationContext: false));
        _output = new PipeOutput(this, hub.Host.Pool);
        Input = new PipeInput(this, _received.Reader);
        var outbound = new OutboundQueue(hub.Host.Pool, s_unframed, s_limits)
        {
            CapacityAvailable = _output.OnCapacity,
        };
        _connection = new Connection(wire, hub.Host.Shards.For(wire), hub.Host.Pool, settings, this, outbound)
        {
            EndsByHalves = true,
        };
        link.Abandoned = _abandoned;
    }

    public PipeReader Input { get; }

    public PipeWriter Output => _output;

    public OutboundQueue Outbound => _connection.Outbound;

    public StreamLink Link => _link;

    public Connection Connection => _connection;

    public Func<Task>? Handle { get; set; }

    /// <summary>The peer has ended its side, or the connection has ended.</summary>
    public CancellationToken Ended => _ended.Token;

    /// <summary>What a reader gets behind the last byte. Null: the peer's end.</summary>
    public Exception? InputFailure { get; private set; }

    /// <summary>Why Output fails. Null: the connection has not ended.</summary>
    public IOException? Failure { get; private set; }

    public string Name => "the pipe";

    /// <summary>
    /// Whether the exception is, or results from, one that Input or Output reported: the connection's end, not a fault of the user's code.
    /// </summary>
    public bool HasReported(Exception? exception)
    {
        while (exception is not null && !ReferenceEquals(exception, InputFailure) && !ReferenceEquals(exception, Failure))
        {
            exception = exception.InnerException;
        }

        return exception is not null;
    }

    public void Complete(DisconnectReason reason)
    {
        _reason = reason;
        Output.Complete();
        Input.Complete();
        _connection.RequestClose(reason, CloseMode.Orderly, _connection.Settings.Linger);
    }

    public void Abort(string? reason)
    {
        _abortReason = reason;
        _link.RequestClose(DisconnectReason.Local, CloseMode.Abort);
    }

    /// <summary>
    /// A user that flushes several times for what it has read is not overtaken by the shard: all of it is one write, as a rule.
    /// </summary>
    public void ScheduleFlush()
    {
        _isFlushScheduled = true;
        _connection.ScheduleLateFlush();
    }

    public void FlushBeforeWait()
    {
        if (_isFlushScheduled)
        {
            _isFlushScheduled = false;
            _connection.TryFlush();
        }
    }

    public void OnOutputCompleted(Exception? exception)
    {
        if (exception is not null)
        {
            // The peer must not take the end for one in order.
            _link.RequestClose(DisconnectReason.Local, CloseMode.Abort);
            return;
        }

        _isOutputEnded = true;
        _connection.EndOutput();
        CloseIfUnused();
    }

    public void OnInputUnread()
    {
        _isInputUnread = true;
        _connection.PostToSink();
    }

    public void OnOpened(Connection connection) => BeginHandling();

    public InboundResult OnBytes(Connection connection, in InboundBytes bytes)
    {
        PipeWriter writer = _received.Writer;
        bytes.Span.CopyTo(writer.GetSpan(bytes.Length));
        writer.Advance(bytes.Length);
        ValueTask<FlushResult> flush = writer.FlushAsync(CancellationToken.None);
        _delivering = flush.ConfigureAwait(false).GetAwaiter();
        if (_delivering.IsCompleted)
        {
            _delivering.GetResult();
        }
        else
        {
            _isFull = true;
            _delivering.UnsafeOnCompleted(_onRead);
        }

        return new InboundResult(bytes.Length, Frames: 1, NextFrameSize: 0, MostToRead(connection, pastLimits: false));
    }

    public int MostToRead(Connection connection, bool pastLimits) => _isFull ? 0 : int.MaxValue;

    public void OnPosted(Connection connection)
    {
        if (_isInputUnread)
        {
            EndInput(failure: null);
            connection.DropInput();
            CloseIfUnused();
        }
    }

    public void OnInputEnded(Connection connection) => EndInput(connection.Wire.IsCutOff
        ? new IOException(
            "The connection was lost: the peer ended it without a CLOSE.", new SocketException((int)SocketError.ConnectionReset))
        : null);

    public void OnClosing(Connection connection, DisconnectReason reason, string? detail)
    {
        Failure = reason == DisconnectReason.TransportError
            ? new IOException($"The connection was lost: {detail}.", new SocketException((int)connection.Wire.Error))
            : new IOException($"The connection was ended: {_abortReason ?? detail ?? reason.Words()}.");
        _hub.EndPeer(_link, reason, detail);
        _output.OnCapacity();
        BeginHandling(); // It may not have been opened.
    }

    public void OnClosed(Connection connection)
    {
        EndInput(Failure);
        _ = EndAsync();
    }

    public void OnFault(Connection connection, Exception exception) => _hub.ReportFault(_link, exception);

    private void BeginHandling() => _handling ??= Handle is { } handle ? Task.Run(handle) : Task.CompletedTask;

    private void OnRead()
    {
        _delivering.GetResult();
        _isFull = false;
        _connection.Resume();
    }

    /// <summary>The handler may never return: a shutdown waits for it until its deadline only.</summary>
    private async Task EndAsync()
    {
        await Task.WhenAny(_handling!, _abandoned.Task).ConfigureAwait(false);
        _hub.OnClosed(_link);
    }

    private void EndInput(IOException? failure)
    {
        if (!_isInputEnded)
        {
            _isInputEnded = true;
            InputFailure = failure;
            _received.Writer.Complete();
            _ = _ended.CancelAsync(); // Off the shard: callbacks of the application run in it.
        }
    }

    /// <summary>Nobody reads or writes it any more. A WebSocket has no half-close: it ends with Output.</summary>
    private void CloseIfUnused()
    {
        if (_isOutputEnded && (_isInputUnread || !_connection.Wire.EndsByHalves))
        {
            _connection.RequestClose(_reason, CloseMode.Orderly, _connection.Settings.Linger);
        }
    }
}
