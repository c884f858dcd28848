using System.Net;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>The kind of a received <see cref="StreamMessage"/>.</summary>
public enum StreamMessageKind
{
    /// <summary>No message: that of <c>default(StreamMessage)</c>.</summary>
    None,

    /// <summary>A peer has connected. No payload.</summary>
    Connected,

    /// <summary>A peer has disconnected, and its id is invalid. No payload.</summary>
    Disconnected,

    /// <summary>A peer sent a payload, possibly an empty one.</summary>
    Data,
}

/// <summary>A received message: a lease on pooled memory. Dispose it when its payload is no longer needed.</summary>
/// <remarks>
/// Copies of this struct are the same lease. The first Dispose ends it; a second one does nothing, and later reads throw. A message may be
/// passed to any thread and disposed there, but not while another thread reads it. The memory of a message that is not disposed is not
/// reused until it is collected.
/// </remarks>
public readonly struct StreamMessage : IDisposable
{
    // Data: the lease; an event: the link. One field keeps a message at 32 bytes.
    private readonly object? _origin;
    private readonly int _slot;
    private readonly int _generation;

    internal StreamMessage(in DequeuedMessage dequeued)
    {
        var link = (StreamLink)dequeued.Link;
        PeerId = link.Id;
        if (dequeued.Notice == LaneNotice.None)
        {
            Kind = StreamMessageKind.Data;
            _origin = dequeued.Lease;
            _slot = dequeued.Slot;
            _generation = dequeued.Lease.GenerationOf(_slot);
            return;
        }

        bool isEnd = dequeued.Notice == LaneNotice.Disconnected;
        Kind = isEnd ? StreamMessageKind.Disconnected : StreamMessageKind.Connected;
        Reason = isEnd ? link.EndReason : DisconnectReason.Unknown;
        _origin = link;
    }

    /// <summary>Connect, disconnect or data.</summary>
    public StreamMessageKind Kind { get; }

    /// <summary>The peer: 1, 2, 3 ... per socket in order of arrival.</summary>
    public uint PeerId { get; }

    /// <summary>Why the peer disconnected, for <see cref="StreamMessageKind.Disconnected"/>.</summary>
    public DisconnectReason Reason { get; }

    /// <summary>
    /// The peer's address, also after its end. Null for a peer that ended before it could be read, and for an empty message.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public EndPoint? RemoteEndPoint => Link?.Wire?.RemoteEndPoint;

    /// <summary>The payload, valid until Dispose. Empty for events.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> Payload => Lease is { } lease ? lease.Part(_slot, 0, _generation) : ReadOnlyMemory<byte>.Empty;

    /// <inheritdoc cref="Payload"/>
    public ReadOnlySpan<byte> Span => Payload.Span;

    private InboundLease? Lease => _origin as InboundLease;

    private StreamLink? Link
    {
        get
        {
            if (Lease is not { } lease)
            {
                return _origin as StreamLink;
            }

            // Read before the check for the lease's end: an ended lease may serve another peer.
            var link = lease.Source as StreamLink;
            return lease.IsLive(_slot, _generation) ? link : throw InboundLease.Ended();
        }
    }

    internal static InboundRun RunOf(ReadOnlySpan<StreamMessage> messages)
    {
        ref readonly StreamMessage first = ref messages[0];
        InboundLease lease = first.Lease ?? throw new ArgumentException(
            "A connect or disconnect event has no payload to send.", nameof(messages));
        int most = lease.HasOwnSlabs ? 1 : Math.Min(messages.Length, InboundLease.GroupSize - (first._slot % InboundLease.GroupSize));
        int count = 1;
        while (count < most && messages[count]._slot == first._slot + count && ReferenceEquals(messages[count]._origin, lease)
            && messages[count]._generation == first._generation)
        {
            count++;
        }

        var run = new InboundRun(lease, first._slot, count, first._generation);
        ObjectDisposedException.ThrowIf(!run.IsLive, typeof(StreamMessage));
        return run;
    }

    /// <summary>Ends the lease. Idempotent; does nothing for events.</summary>
    public void Dispose() => Lease?.Release(_slot, _generation);

    internal DeferredMessage Defer() => new(Lease!, _slot, _generation);
}

internal readonly struct StreamSource(StreamHub hub) : IMessageSource<StreamMessage>
{
    public StreamMessage Open(in DequeuedMessage dequeued)
    {
        if (dequeued.Notice != LaneNotice.None)
        {
            hub.OnNoticeRead();
        }

        return new StreamMessage(dequeued);
    }

    public bool Recheck() => hub.Receive.IsWorthTaking;

    public string? WhyNothingCame() => hub.PeerCount > 0 ? null
        : hub.Endpoints.Length == 0 ? ": the socket is neither bound nor connected; call Bind or ConnectAsync first"
        : ": no peer is connected";
}
