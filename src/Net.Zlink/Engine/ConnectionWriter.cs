using System.Net.Sockets;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

/// <summary>The writing half of a connection: takes what the <see cref="OutboundQueue"/> holds to the kernel, on the shard.</summary>
/// <remarks>
/// A write is first tried at once, without waiting. Only what the kernel has no room for becomes an asynchronous send, so an idle or fast-reading peer costs one system
/// call per burst and holds no send object. A flush goes before the shard's reads: what is answered leaves before more is taken in, which bounds what a fast consumer piles up.
/// </remarks>
internal sealed class ConnectionWriter(Connection connection, ConnectionCloser closer) : ShardWork
{
    private const int FlushWanted = 1;
    private const int SendCompleted = 2;

    // A connection's turn is so many writes of up to 64 KiB: then the others of its shard get theirs.
    private const int MaxWritesPerTurn = 16;

    // What one pending send may hold: so much is unconfirmed when a connection breaks, and progress is seen at this grain.
    private const int MaxPendingSend = 256 * 1024;

    private SocketSignal? _signal;
    private OutboundSegment? _sending;
    private ShardTimer? _timer;
    private bool _isStopped;

    /// <summary>The kernel is full and will report when there is room.</summary>
    private bool IsPending { get; set; }

    /// <summary>Stopwatch time of the last write that completed.</summary>
    public long LastWriteAt { get; private set; }

    public void Start(long now) => LastWriteAt = now;

    /// <summary>Asks for a flush. Any thread.</summary>
    public void Schedule() => connection.Shard.PostUrgent(this, FlushWanted);

    /// <summary>Writes until nothing is left, the kernel is full, or the turn is used up; the closer hears when nothing is left.</summary>
    public void Flush()
    {
        if (IsPending || _isStopped || closer.IsClosed)
        {
            return;
        }

        OutboundQueue outbound = connection.Outbound;
        OutboundSegment? segment = _sending ?? outbound.NextToWrite();
        int writes = 0;
        while (segment is not null)
        {
            _sending = segment;
            while (segment.Sent < segment.Length)
            {
                if (writes++ == MaxWritesPerTurn)
                {
                    Schedule();
                    return;
                }

                int sent = connection.Socket.Send(segment.Memory.Span[segment.Sent..segment.Length], SocketFlags.None, out SocketError error);
                if (error == SocketError.Success)
                {
                    segment.Sent += sent;
                    continue;
                }

                if (error != SocketError.WouldBlock)
                {
                    OnLost(error);
                    return;
                }

                if (WaitForRoom(segment))
                {
                    return;
                }
            }

            LastWriteAt = connection.Shard.Now;
            _sending = null;
            segment = outbound.Written(segment);
        }

        connection.Shard.Timers.Cancel(_timer);
        connection.NotifyFlushed();
    }

    internal override void Run(int reasons)
    {
        if ((reasons & SendCompleted) != 0)
        {
            OnCompleted();
        }
        else
        {
            Flush();
        }
    }

    internal override void OnFault(Exception exception) => connection.OnFault(exception);

    internal override string Describe() => connection.Describe();

    /// <summary>The pending send has ended.</summary>
    private void OnCompleted()
    {
        IsPending = false;
        if (closer.IsClosed)
        {
            ReleaseSending();
            _signal!.Dispose();
        }
        else if (Account())
        {
            Flush();
        }
    }

    /// <summary>Nothing more is written by this connection. Idempotent: the queue may serve the next one by now.</summary>
    /// <param name="keep">What was not handed over stays queued for the next connection.</param>
    public void Stop(bool keep)
    {
        if (_isStopped)
        {
            return;
        }

        _isStopped = true;
        connection.Shard.Timers.Cancel(_timer);
        if (keep)
        {
            connection.Outbound.Detach();
        }
        else
        {
            connection.Outbound.Abandon();
        }
    }

    /// <summary>The socket is disposed: gives back what no operation uses any more; a pending one gives back its part when it ends.</summary>
    public void Release()
    {
        if (!IsPending)
        {
            ReleaseSending();
            _signal?.Dispose();
        }
    }

    private void ReleaseSending()
    {
        connection.Outbound.ReleaseInFlight(_sending);
        _sending = null;
    }

    /// <summary>Hands the rest to the operating system to send when there is room. False if that ended at once.</summary>
    private bool WaitForRoom(OutboundSegment segment)
    {
        _signal ??= new SocketSignal(connection.Shard, this, SendCompleted);
        int length = Math.Min(segment.Length - segment.Sent, MaxPendingSend);
        segment.Exposed = segment.Sent + length;
        _signal.SetBuffer(segment.Memory.Slice(segment.Sent, length));
        IsPending = true;
        if (connection.Socket.SendAsync(_signal))
        {
            TimeSpan limit = connection.Settings.WriteTimeout;
            if (limit > TimeSpan.Zero)
            {
                _timer ??= new ShardTimer(static state => ((ConnectionWriter)state).OnTimer(), this);
                connection.Shard.Timers.Arm(_timer, limit);
            }

            return true;
        }

        IsPending = false;
        return !Account();
    }

    /// <summary>Takes the result of a send. False if the connection is lost.</summary>
    private bool Account()
    {
        SocketError error = _signal!.SocketError;
        if (error != SocketError.Success)
        {
            OnLost(error);
            return false;
        }

        _sending!.Sent += _signal.BytesTransferred;
        LastWriteAt = connection.Shard.Now;
        return true;
    }

    private void OnLost(SocketError error)
    {
        if (connection.Shard.IsHelped)
        {
            // The end of a connection calls its handler, which has no business on a sender's stack.
            connection.RequestClose(DisconnectReason.TransportError, CloseMode.Abort);
        }
        else
        {
            closer.OnLost(error);
        }
    }

    private void OnTimer() =>
        closer.Begin(DisconnectReason.WriteTimeout, CloseMode.Abort, $"the peer took nothing for {connection.Settings.WriteTimeout}");
}
