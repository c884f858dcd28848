using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>What an XPUB tells its application of subscriptions, of all its peers in one line; and how peers' messages come behind it.</summary>
/// <remarks>
/// One line, because of the order: that the last subscriber of a topic left and that another came must be read in the order in which it happened, whichever connections it was; read the other
/// way round, the application would take a wanted topic for an unwanted one. It is a lane like any peer's, bounded like it: while it is full no connection of the socket is read.
/// Messages lie in their peers' lanes, bounded each by itself, but go there by the same way, and the socket's receive queue is in the order of arrival: what one peer sent, topics and messages, is read in the order in which it sent it.
/// </remarks>
internal sealed class PublisherNotices(PublisherCore core) : Pipe(core, new InboundLane(default) { IsShared = true })
{
    private readonly Queue<(InboundLane Lane, InboundLease Messages)> _decided = new();
    private readonly Lock _turn = new();
    private bool _isPublishing;

    public override OutboundCounts Outbound => default;

    public override bool HasRoom => false;

    /// <summary>Notes a notice: under the lock that decides who is first and last, so that notices stand in that order.</summary>
    public void Add(Pipe about, ReadOnlySpan<byte> prefix, bool subscribes)
    {
        Slab slab = core.Host.Slabs.Rent(prefix.Length + 1);
        slab.Array[0] = (byte)(subscribes ? 1 : 0);
        prefix.CopyTo(slab.Array.AsSpan(1));
        InboundLease notice = InboundLease.Rent(slab, about.Peer);
        notice.NoticeOf = about;
        notice.AddPart(0, prefix.Length + 1);
        notice.EndMessage();
        Add(Lane, notice);
    }

    /// <summary>Notes messages for a lane.</summary>
    public void Add(InboundLane lane, InboundLease messages)
    {
        lock (_turn)
        {
            _decided.Enqueue((lane, messages));
        }
    }

    /// <summary>Hands on what was noted, outside of all locks. Whoever finds somebody at it leaves it to them.</summary>
    public void Publish()
    {
        while (true)
        {
            (InboundLane Lane, InboundLease Messages) next;
            lock (_turn)
            {
                if (_isPublishing || !_decided.TryDequeue(out next))
                {
                    return;
                }

                _isPublishing = true;
            }

            next.Lane.Publish(next.Messages);
            lock (_turn)
            {
                _isPublishing = false;
            }
        }
    }

    public override SendStatus TrySend(in OutgoingMessage message, bool force = false) => SendStatus.Closed;

    public override SendStatus TrySendShared(Slab encoded, int length, bool force = false) => SendStatus.Closed;

    public override void SendOwn(ZmpFlags flags, ReadOnlySpan<byte> body)
    {
    }

    /// <summary>Connections stopped on its account read on.</summary>
    public override void OnRoomInLane()
    {
        foreach (Pipe pipe in core.Pipes)
        {
            pipe.OnRoomInLane();
        }
    }

    public override void SetLimits(QueueLimits outbound, QueueLimits inbound)
    {
        if (Lane.SetLimits(inbound))
        {
            OnRoomInLane();
        }
    }

    public override void Close(DisconnectReason reason, TimeSpan linger)
    {
    }

    public override void Abort()
    {
    }
}
