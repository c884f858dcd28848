using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>What a lane, the receive queue and the counters need of a link, of ZMP and of STREAM alike.</summary>
internal abstract class LaneOwner
{
    private bool _countersFinal;

    /// <summary>The connection that fills the lane now.</summary>
    public abstract Connection? Reader { get; }

    public abstract QueueCounts Outbound { get; }

    public abstract QueueCounts Inbound { get; }

    /// <summary>Each message is checked once more when it is received: the application may want less by then.</summary>
    public virtual bool IsFiltered => false;

    /// <summary>Changes with what the application wants.</summary>
    public virtual int FilterVersion => 0;

    public virtual bool IsInArrivalOrder => false;

    public bool AreCountersFinal => _countersFinal;

    /// <summary>Written under the lock of <see cref="SocketCounters"/>, read by any thread.</summary>
    public long Unconfirmed { get; set; }

    public bool TryFinalizeCounters() => !Interlocked.Exchange(ref _countersFinal, true);

    public virtual bool Accepts(ReadOnlySpan<byte> firstPart) => true;

    public abstract UndeliveredLink Undelivered(long messages, long bytes);

    /// <summary>Puts the lane into the receive queue. 0 messages: it has only a notice.</summary>
    public abstract void Announce(InboundLane lane, int messages);

    public abstract void OnLaneCapacity();
}

/// <summary><paramref name="PeerId"/>: 0 but for STREAM.</summary>
internal readonly record struct UndeliveredLink(uint PeerId, RedactedEndpoint Endpoint, string Remote, long Messages, long Bytes);
