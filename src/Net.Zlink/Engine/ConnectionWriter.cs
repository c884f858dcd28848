using System.Buffers;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>
/// The writing half of a connection: writes the <see cref="OutboundQueue"/> to the wire, on the shard. Flushes run before the shard's
/// reads, so replies leave before more input: this limits what a fast consumer accumulates.
/// </summary>
internal sealed class ConnectionWriter(Connection connection) : ShardWork
{
    /// <summary>
    /// The largest pending send under a WriteTimeout, which judges by progress: a peer that takes less in that time counts as stuck.
    /// </summary>
    public const int MaxTimedSend = 16 * 1024;

    public const int FlushWanted = 1;
    private const int SendCompleted = 2;

    private const int MaxSegmentsPerTurn = 16;

    // These bytes are unconfirmed if a connection breaks.
    private const int MaxPendingSend = 256 * 1024;

    private OutboundSegment? _sending;
    private ShardTimer? _timer;
    private MemoryHandle _pin;
    private ShardTimer? _quiet;
    private bool _isPending;
    private bool _isStopped;
    private bool _isBroken;

    /// <summary>Any thread.</summary>
    public long LastWriteAt { get; private set; } = connection.Shard.Timers.Timestamp();

    /// <summary>Completed or partial writes: shows progress even while the clock stands still.</summary>
    public long Writes { get; private set; }

    /// <summary>Any thread.</summary>
    public void Schedule() => connection.Shard.PostUrgent(this, FlushWanted);

    public void Flush()
    {
        if (_isPending || _isStopped || _isBroken || connection.IsClosed)
        {
            return;
        }

        OutboundQueue outbound = connection.Outbound;
        bool several = connection.Wire.Gathers;
        OutboundSegment? segment = _sending ?? outbound.NextToWrite(several);
        int segments = 0;
        while (segment is not null)
        {
            _sending = segment;
            if (segment.Sent == segment.Length)
            {
                Writes++;
                LastWriteAt = connection.Shard.Now;
                _sending = null;
                segment = outbound.Written(segment, several);
                continue;
            }

            if (segments >= MaxSegmentsPerTurn)
            {
                PutBackUnwritten(segment);
                Schedule();
                return;
            }

            WireStatus status = Send(segment, ref segments, out int sent);
            if (status == WireStatus.Done)
            {
                Advance(segment, sent);
                continue;
            }

            PutBackUnwritten(segment);
            if (status != WireStatus.WouldWait)
            {
                OnLost();
                return;
            }

            if (WaitUntilWritable(segment))
            {
                return;
            }
        }

        connection.NotifyFlushed();
    }

    /// <summary>Any thread.</summary>
    public void OnSent() => connection.Shard.RunOrPost(this, SendCompleted);

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

    private void OnCompleted()
    {
        _isPending = false;
        connection.Shard.Timers.Cancel(_timer);
        if (connection.IsClosed)
        {
            connection.Wire.FinishSend();
            ReleaseSending();
        }
        else if (Account())
        {
            Flush();
        }
    }

    /// <summary>Idempotent: the queue may serve the next connection by now.</summary>
    public void Stop(bool keep)
    {
        if (_isStopped)
        {
            return;
        }

        _isStopped = true;
        connection.Shard.Timers.Cancel(_timer);
        connection.Shard.Timers.Cancel(_quiet);
        if (keep)
        {
            connection.Outbound.Detach();
        }
        else
        {
            connection.Outbound.Abandon();
        }
    }

    public void Release()
    {
        if (!_isPending)
        {
            ReleaseSending();
        }
    }

    private void ReleaseSending()
    {
        _pin.Dispose();
        connection.Outbound.ReleaseInFlight(_sending);
        _sending = null;
    }

    private WireStatus Send(OutboundSegment first, ref int segments, out int sent)
    {
        Wire wire = connection.Wire;
        if (first.Next is not null)
        {
            List<ArraySegment<byte>> pieces = connection.Shard.Pieces;
            try
            {
                OutboundSegment? segment = first;
                for (; segment is not null && TryGetArray(segment, out ArraySegment<byte> piece); segment = segment.Next)
                {
                    pieces.Add(piece);
                }

                if (pieces.Count > 1)
                {
                    segments += pieces.Count;
                    return wire.Send(pieces, out sent);
                }
            }
            finally
            {
                pieces.Clear();
            }
        }

        segments++;
        return wire.Send(first.Memory.Span[first.Sent..first.Length], out sent);
    }

    /// <summary>An owner (application code) that threw throws again when its segment is the first.</summary>
    private static bool TryGetArray(OutboundSegment segment, out ArraySegment<byte> piece)
    {
        try
        {
            return MemoryMarshal.TryGetArray(segment.Memory[segment.Sent..segment.Length], out piece);
        }
        catch (Exception)
        {
            piece = default;
            return false;
        }
    }

    private void PutBackUnwritten(OutboundSegment segment)
    {
        if (segment.Next is not null)
        {
            connection.Outbound.PutBack(segment);
        }
    }

    private static void Advance(OutboundSegment segment, int sent)
    {
        for (OutboundSegment? one = segment; sent > 0; one = one.Next)
        {
            int part = Math.Min(sent, one!.Length - one.Sent);
            one.Sent += part;
            sent -= part;
        }
    }

    private bool WaitUntilWritable(OutboundSegment segment)
    {
        int most = connection.Settings.WriteTimeout > TimeSpan.Zero ? MaxTimedSend : MaxPendingSend;
        ReadOnlyMemory<byte> bytes = ToArray(segment.Memory.Slice(segment.Sent, Math.Min(segment.Length - segment.Sent, most)));
        segment.Exposed = segment.Sent + bytes.Length;
        // Its completion runs on this shard, hence later.
        _isPending = connection.Wire.BeginSend(bytes, segment.EndsMidFrame || segment.Exposed < segment.Length);
        return !OnBegun();
    }

    /// <summary>
    /// The runtime reads the bytes of a pending send repeatedly, on a thread where what their owner throws ends the process. A buffer of
    /// our pool that is disposed too early returns after the send. Memory of other managers is copied, so only some of it is sent.
    /// </summary>
    private ReadOnlyMemory<byte> ToArray(ReadOnlyMemory<byte> bytes)
    {
        if (MemoryMarshal.TryGetMemoryManager(bytes, out BufferOwner? pooled))
        {
            _pin = pooled.Pin();
        }
        else if (MemoryMarshal.TryGetMemoryManager<byte, MemoryManager<byte>>(bytes, out _))
        {
            return bytes[..Math.Min(bytes.Length, MaxTimedSend)].ToArray();
        }

        return MemoryMarshal.TryGetArray(bytes, out ArraySegment<byte> array) ? array : bytes;
    }

    /// <summary>A write has begun. True: it is over, and another may follow.</summary>
    private bool OnBegun()
    {
        if (!_isPending)
        {
            return Account();
        }

        if (connection.Settings.WriteTimeout is var limit && limit > TimeSpan.Zero)
        {
            _timer ??= new ShardTimer(static state => ((ConnectionWriter)state).OnTimer(), this);
            connection.Shard.Timers.Arm(_timer, limit);
        }

        return false;
    }

    /// <summary>Begins, and continues, to watch for the time to send an empty write.</summary>
    public void WatchQuiet()
    {
        TimeSpan interval = connection.Wire.PingInterval;
        if (interval <= TimeSpan.Zero || _isStopped || _isBroken || !connection.IsOpen)
        {
            return;
        }

        TimeSpan left = interval - connection.SinceLastWrite;
        if (left <= TimeSpan.Zero)
        {
            left = interval;
            if (!_isPending && _sending is null)
            {
                _isPending = connection.Wire.BeginSend(default, endsMidFrame: false);
                OnBegun();
            }
        }

        _quiet ??= new ShardTimer(static state => ((ConnectionWriter)state).WatchQuiet(), this);
        connection.Shard.Timers.Arm(_quiet, left);
    }

    private bool Account()
    {
        _pin.Dispose();
        if (connection.Wire.FinishSend() != WireStatus.Done)
        {
            OnLost();
            return false;
        }

        if (_sending is { } segment) // Else it was a ping.
        {
            segment.Sent += connection.Wire.SentBytes;
            Writes++;
        }

        LastWriteAt = connection.Shard.Now;
        return true;
    }

    private void OnLost()
    {
        // Closing is posted: a read on this stack may have caused this write, and a handler must not run on a sender's stack.
        _isBroken = true;
        connection.DropBehindUnread();
    }

    private void OnTimer()
    {
        if (connection.Wire.IsWritable)
        {
            // The peer made progress, and the completion is on its way: the process was suspended, or its processors are busy.
            connection.Shard.Timers.Arm(_timer!, connection.Settings.WriteTimeout);
            return;
        }

        connection.Close(DisconnectReason.WriteTimeout, CloseMode.Abort, $"the peer read nothing for {connection.Settings.WriteTimeout}");
    }
}

/// <summary>
/// Remembers, per thread, the shard of its last scheduled flush, so that the thread can run that flush at its next call. A consumer that
/// replies comes back at once and then writes its replies itself, in one burst per peer. The flush is always scheduled too, so nothing is
/// late if the thread never calls again.
/// </summary>
internal static class CallerFlush
{
    // Weak: a thread that never calls again would otherwise keep that shard's whole context alive.
    [ThreadStatic]
    private static WeakReference<ShardLoop>? t_shard;

    [ThreadStatic]
    private static bool t_receives;

    public static void Record(ShardLoop shard)
    {
        WeakReference<ShardLoop>? earlier = t_shard;
        if (!ReferenceEquals(earlier, shard.Weak))
        {
            t_shard = ShardLoop.Current is null ? shard.Weak : null;
            if (t_receives && !DeferredDisposal.IsDeferred)
            {
                // Never under a lock, since a flush takes other sockets' locks.
                FlushOnThisThread(earlier);
            }
        }
    }

    public static void Run()
    {
        t_receives = true;
        RunBeforeBlocking();
    }

    public static void RunBeforeBlocking()
    {
        WeakReference<ShardLoop>? shard = t_shard;
        if (shard is not null)
        {
            t_shard = null;
            FlushOnThisThread(shard);
        }
    }

    private static void FlushOnThisThread(WeakReference<ShardLoop>? shard)
    {
        if (shard is not null && shard.TryGetTarget(out ShardLoop? living))
        {
            living.Help();
        }
    }
}
