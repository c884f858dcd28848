using System.Net.Sockets;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>The writing half of a connection: takes what the <see cref="OutboundQueue"/> holds to the wire, on the shard.</summary>
/// <remarks>
/// A write is first tried at once, without waiting; what there is no room for becomes a pending one. A flush goes before the shard's reads: what is answered leaves before more is taken in, which bounds what a fast consumer piles up.
/// </remarks>
internal sealed class ConnectionWriter(Connection connection, ConnectionCloser closer) : ShardWork
{
    /// <summary>What one pending send may hold where a WriteTimeout judges by its progress: a peer that takes no more than so much in that time is taken for one that takes nothing. One more write for each wait.</summary>
    public const int MaxTimedSend = 16 * 1024;

    private const int FlushWanted = 1;
    private const int SendCompleted = 2;

    // A connection's turn is so many segments, of up to 64 KiB as a rule: then the others of its shard get theirs.
    private const int MaxSegmentsPerTurn = 16;

    // What one pending send may hold: so much is unconfirmed when a connection breaks, and progress is seen at this grain.
    private const int MaxPendingSend = 256 * 1024;

    private OutboundSegment? _sending;
    private ShardTimer? _timer;
    private PinnedMemory? _pinned;
    private bool _isStopped;
    private bool _isBroken;

    /// <summary>The wire has a write that will report its end.</summary>
    private bool IsPending { get; set; }

    /// <summary>When the last write was complete, or the peer came, in timestamps of the context's clock; read by anyone.</summary>
    public long LastWriteAt { get; private set; } = connection.Shard.Timers.Timestamp();

    /// <summary>How many writes were complete, or a part of one: where it rises the peer takes something, also while the clock shows the same time.</summary>
    public long Writes { get; private set; }

    /// <summary>Asks for a flush. Any thread.</summary>
    public void Schedule() => connection.Shard.PostUrgent(this, FlushWanted);

    /// <summary>Writes until nothing is left, the kernel is full, or the turn is used up; the closer hears when nothing is left.</summary>
    public void Flush()
    {
        if (IsPending || _isStopped || _isBroken || closer.IsClosed)
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
                OnWritten();
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

            PutBackUnwritten(segment); // A loss, too, finds no more than one segment on its way.
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

    /// <summary>A pending write is over. Any thread.</summary>
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

    /// <summary>The pending send has ended.</summary>
    private void OnCompleted()
    {
        IsPending = false;
        connection.Shard.Timers.Cancel(_timer); // The peer has taken something; the next wait has a time of its own.
        if (closer.IsClosed)
        {
            connection.Wire.FinishSend();
            ReleaseSending();
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

    /// <summary>The wire is disposed: gives back what no operation uses any more; a pending one gives back its part when it ends.</summary>
    public void Release()
    {
        if (!IsPending)
        {
            ReleaseSending();
        }
    }

    private void ReleaseSending()
    {
        _pinned?.Release();
        connection.Outbound.ReleaseInFlight(_sending);
        _sending = null;
    }

    /// <summary>Writes a segment and, where there is more, what is linked to it; counts how many it tried.</summary>
    private WireStatus Send(OutboundSegment first, ref int segments, out int sent)
    {
        Wire wire = connection.Wire;
        if (first.Next is not null)
        {
            List<ArraySegment<byte>> pieces = connection.Shard.Pieces;
            try
            {
                for (OutboundSegment? segment = first; segment is not null && TryGetArray(segment, out ArraySegment<byte> piece); segment = segment.Next)
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

    /// <summary>What is left of a segment, as an array. False: there is none beneath, or its owner, the application's code, failed; then it fails again when it is the first.</summary>
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

    /// <summary>So many bytes have left, of this segment and of those that are linked to it.</summary>
    private static void Advance(OutboundSegment segment, int sent)
    {
        for (OutboundSegment? one = segment; sent > 0; one = one.Next)
        {
            int part = Math.Min(sent, one!.Length - one.Sent);
            one.Sent += part;
            sent -= part;
        }
    }

    /// <summary>Hands the rest to the wire to write when there is room. False if that ended at once.</summary>
    private bool WaitUntilWritable(OutboundSegment segment)
    {
        TimeSpan limit = connection.Settings.WriteTimeout;
        int length = Math.Min(segment.Length - segment.Sent, limit > TimeSpan.Zero ? MaxTimedSend : MaxPendingSend);
        ReadOnlyMemory<byte> bytes = segment.Memory.Slice(segment.Sent, length);
        if (PinnedMemory.IsNeededFor(bytes))
        {
            bytes = (_pinned ??= new PinnedMemory()).Acquire(bytes); // The last step in which an owner's fault can be: it costs this connection.
        }

        segment.Exposed = segment.Sent + length;
        IsPending = connection.Wire.BeginSend(bytes, segment.EndsMidFrame || segment.Exposed < segment.Length); // Its end comes to this shard, hence later.
        if (IsPending)
        {
            if (limit > TimeSpan.Zero)
            {
                _timer ??= new ShardTimer(static state => ((ConnectionWriter)state).OnTimer(), this);
                connection.Shard.Timers.Arm(_timer, limit);
            }

            return true;
        }

        return !Account();
    }

    /// <summary>Takes the result of a send. False if the connection is lost.</summary>
    private bool Account()
    {
        _pinned?.Release();
        if (connection.Wire.FinishSend() != WireStatus.Done)
        {
            OnLost();
            return false;
        }

        _sending!.Sent += connection.Wire.SentBytes;
        OnWritten();
        return true;
    }

    private void OnWritten()
    {
        Writes++;
        LastWriteAt = connection.Shard.Now;
    }

    private void OnLost()
    {
        // Not here: the read that is under way on this stack may have called for this write, and a sender's stack is no place for a handler that hears of the end.
        _isBroken = true;
        connection.DropBehindUnread();
    }

    private void OnTimer()
    {
        if (connection.Wire.Socket.Poll(TimeSpan.Zero, SelectMode.SelectWrite))
        {
            connection.Shard.Timers.Arm(_timer!, connection.Settings.WriteTimeout); // The peer has made room, and the write's end is on its way here: the process stood still, or its processors are busy.
            return;
        }

        closer.Begin(DisconnectReason.WriteTimeout, CloseMode.Abort, $"the peer took nothing for {connection.Settings.WriteTimeout}");
    }
}
