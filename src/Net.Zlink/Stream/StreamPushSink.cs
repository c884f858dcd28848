using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal sealed class StreamPushSink(StreamHub hub, StreamSender sender, StreamHandler handler) : IConnectionSink
{
    public bool RepliesSynchronously => true;

    public string Name => handler.GetType().Name;

    public StreamHandler Handler => handler;

    public void OnOpened(Connection connection)
    {
        var link = (StreamLink)connection.Context!;
        var session = new StreamPushSession(this, connection, sender.PeerOf(link));
        link.Session = session;
        if (!session.Open())
        {
            connection.RequestClose(DisconnectReason.HandlerFailed, CloseMode.Orderly);
        }
    }

    public Delivery OnFrames(Connection connection, in InboundBatch batch) => Session(connection)!.Deliver(batch);

    public void OnBroken(Connection connection, uint announced) =>
        hub.Refuse((StreamLink)connection.Context!, connection, announced);

    public bool MayRead(Connection connection) => Session(connection)!.IsIdle;

    public void OnClosing(Connection connection, DisconnectReason reason, string? detail)
    {
        var link = (StreamLink)connection.Context!;
        hub.EndPeer(link, reason, detail);
        Session(connection)?.End(link.EndReason);
    }

    public void OnClosed(Connection connection) => hub.OnClosed((StreamLink)connection.Context!);

    public void OnFault(Connection connection, Exception exception) => hub.ReportFault((StreamLink)connection.Context!, exception);

    private static StreamPushSession? Session(Connection connection) => (StreamPushSession?)((StreamLink)connection.Context!).Session;
}

/// <summary>
/// Makes a pushed peer's handler calls, one at a time. What a call sets in the execution context is undone after it, because one work may
/// make several calls, also for several peers.
/// </summary>
internal sealed class StreamPushSession : ShardWork
{
    private readonly StreamPushSink _sink;
    private readonly Connection _connection;
    private readonly StreamPeer _peer;
    private Action? _onCompleted;
    private ValueTask _pending;
    private Slab? _buffered;
    private bool _isPending;
    private bool _isEnding;
    private bool _hasFailed;
    private DisconnectReason _endReason;

    public StreamPushSession(StreamPushSink sink, Connection connection, StreamPeer peer)
    {
        _sink = sink;
        _connection = connection;
        _peer = peer;
    }

    public bool IsIdle => !_isPending;

    public bool Open()
    {
        try
        {
            _sink.Handler.OnConnected(_peer);
            return true;
        }
        catch (Exception exception)
        {
            _hasFailed = true;
            _sink.OnFault(_connection, exception);
            return false;
        }
        finally
        {
            DefaultContext.Restore();
        }
    }

    public Delivery Deliver(in InboundBatch batch)
    {
        // A requested close comes after the read that may follow the failed call. The handler gets nothing of that read.
        if (_hasFailed)
        {
            return Delivery.Pause;
        }

        Delivery delivery = Call(batch);
        if (!batch.Slab.IsExclusive)
        {
            // The handler, or a peer that it forwarded to, still has the frames: the shard's next read goes behind them. (Other users of
            // the slab look the same, which only costs memory.)
            _connection.Shard.ReceiveSlab.Retain(batch.Slab, batch.Offset + batch.Length);
        }

        return delivery;
    }

    private Delivery Call(in InboundBatch batch)
    {
        ValueTask task;
        try
        {
            task = _sink.Handler.OnReceivedAsync(_peer, new StreamFrames(batch));
            if (task.IsCompleted)
            {
                task.GetAwaiter().GetResult();
                return Delivery.Continue;
            }
        }
        catch (Exception exception)
        {
            Fail(exception);
            return Delivery.Pause;
        }
        finally
        {
            DefaultContext.Restore();
        }

        // The frames stay valid until the handler completes.
        batch.Slab.AddReference();
        _buffered = batch.Slab;
        _pending = task;
        _isPending = true;
        _onCompleted ??= () => _connection.Shard.Post(this, 1);
        task.ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(_onCompleted);
        return Delivery.Pause;
    }

    public void End(DisconnectReason reason)
    {
        _isEnding = true;
        _endReason = reason;
        if (!_isPending)
        {
            CallDisconnected();
        }
    }

    internal override void Run(int reasons)
    {
        ValueTask task = _pending;
        _pending = default;
        _isPending = false;
        _buffered!.Release();
        _buffered = null;
        try
        {
            task.GetAwaiter().GetResult();
        }
        catch (ZlinkException gone) when (_isEnding && gone.Error == ZlinkError.HostUnreachable)
        {
            // The handler waited for a peer that has disconnected, which is not its fault: the peer's end reports it.
        }
        catch (Exception exception)
        {
            Fail(exception);
        }

        if (_isEnding)
        {
            CallDisconnected();
        }
        else
        {
            _connection.Resume();
        }
    }

    internal override void OnFault(Exception exception) => Fail(exception);

    internal override string Describe() => $"{_sink.Handler.GetType().Name} of {_peer}";

    private void Fail(Exception exception)
    {
        _hasFailed = true;
        _sink.OnFault(_connection, exception);
        _connection.RequestClose(DisconnectReason.HandlerFailed, CloseMode.Orderly);
    }

    private void CallDisconnected()
    {
        try
        {
            _sink.Handler.OnDisconnected(_peer, _endReason);
        }
        catch (Exception exception)
        {
            _sink.OnFault(_connection, exception);
        }
        finally
        {
            DefaultContext.Restore();
        }
    }
}
