using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>
/// Makes a pushed peer's handler calls, one at a time. What a call sets in the execution context is undone after it, because one work may
/// make several calls, also for several peers.
/// </summary>
internal sealed class StreamPushSink(StreamHub hub, StreamHandler handler, StreamPeer peer, StreamLink link) : ShardWork, IConnectionSink
{
    private Connection? _connection;
    private Action? _onCompleted;
    private ValueTask _pending;
    private Slab? _buffered; // While the task is incomplete.
    private bool _isEnding;
    private bool _hasFailed;

    public string Name => handler.GetType().Name;

    public void OnOpened(Connection connection)
    {
        _connection = connection;
        try
        {
            handler.OnConnected(peer);
        }
        catch (Exception exception)
        {
            Fail(exception);
        }
        finally
        {
            DefaultContext.Restore();
        }
    }

    public InboundResult OnBytes(Connection connection, in InboundBytes bytes)
    {
        FrameScan scan = StreamFraming.Scan(bytes.Span, connection.Settings.MessageLimit);
        bool continues = scan.Frames == 0 || Deliver(connection, bytes.Slab, bytes.Offset, scan);
        if (scan.IsBroken)
        {
            hub.Refuse(link, connection, scan.Announced);
        }

        return new InboundResult(scan.Consumed, scan.Frames, scan.NextFrameSize, continues ? int.MaxValue : 0);
    }

    public int MostToRead(Connection connection, bool pastLimits) => _buffered is null ? int.MaxValue : 0;

    public void OnClosing(Connection connection, DisconnectReason reason, string? detail)
    {
        hub.EndPeer(link, reason, detail);
        _isEnding = _connection is not null;
        if (_isEnding && _buffered is null)
        {
            CallDisconnected();
        }
    }

    public void OnClosed(Connection connection) => hub.OnClosed(link);

    public void OnFault(Connection connection, Exception exception) => hub.ReportFault(link, exception);

    internal override void Run(int reasons)
    {
        ValueTask task = _pending;
        _pending = default;
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
            _connection!.Resume();
        }
    }

    internal override void OnFault(Exception exception) => Fail(exception);

    internal override string Describe() => $"{Name} of {peer}";

    /// <summary>False: no more is read until the handler has completed.</summary>
    private bool Deliver(Connection connection, Slab slab, int offset, in FrameScan scan)
    {
        // A requested close comes after the read that may follow the failed call. The handler gets nothing of that read.
        if (_hasFailed)
        {
            return false;
        }

        connection.HoldReplies();
        bool continues = Call(slab, new StreamFrames(slab, offset, scan.Consumed, scan.Frames));
        if (!slab.IsExclusive)
        {
            // The handler, or a peer that it forwarded to, still has the frames: the shard's next read goes behind them. (Other users of
            // the slab look the same, which only costs memory.)
            connection.Shard.ReceiveSlab.Retain(slab, offset + scan.Consumed);
        }

        return continues;
    }

    private bool Call(Slab slab, in StreamFrames frames)
    {
        ValueTask task;
        try
        {
            task = handler.OnReceivedAsync(peer, frames);
            if (task.IsCompleted)
            {
                task.GetAwaiter().GetResult();
                return true;
            }
        }
        catch (Exception exception)
        {
            Fail(exception);
            return false;
        }
        finally
        {
            DefaultContext.Restore();
        }

        // The frames stay valid until the handler completes.
        slab.AddReference();
        _buffered = slab;
        _pending = task;
        _onCompleted ??= () => _connection!.Shard.Post(this, 1);
        task.ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(_onCompleted);
        return false;
    }

    private void Fail(Exception exception)
    {
        _hasFailed = true;
        hub.ReportFault(link, exception);
        _connection!.RequestClose(DisconnectReason.HandlerFailed, CloseMode.Orderly);
    }

    private void CallDisconnected()
    {
        try
        {
            handler.OnDisconnected(peer, link.EndReason);
        }
        catch (Exception exception)
        {
            hub.ReportFault(link, exception);
        }
        finally
        {
            DefaultContext.Restore();
        }
    }
}
