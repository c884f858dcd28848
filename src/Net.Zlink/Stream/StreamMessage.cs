using System.Net;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>What a received <see cref="StreamMessage"/> says.</summary>
public enum StreamMessageKind
{
    /// <summary>A peer has connected. No payload.</summary>
    Connected,

    /// <summary>A peer is gone; its id is not valid any more. No payload.</summary>
    Disconnected,

    /// <summary>A peer sent a payload, possibly empty.</summary>
    Data,
}

/// <summary>One received message: a lease on pooled memory. Dispose it when its payload is not needed any more.</summary>
/// <remarks>
/// Copies of this struct are the same lease: the first Dispose ends all of them, a second one is harmless, and reading the payload
/// afterwards throws.
/// A message may be passed to and disposed on any thread, but do not dispose it while another thread reads it. A message that is never
/// disposed keeps its buffer from being reused until it is collected.
/// </remarks>
public readonly struct StreamMessage : IDisposable
{
    // Of data the lease, of an event the link, in one field: a message is 32 bytes, and made, copied and kept by the million.
    private readonly object? _origin;
    private readonly int _slot;
    private readonly int _generation;

    internal StreamMessage(in PulledRun run, int index)
    {
        PeerId = run.PeerId;
        Reason = run.Reason;
        Kind = run.Kind switch
        {
            PulledKind.Connected => StreamMessageKind.Connected,
            PulledKind.Disconnected => StreamMessageKind.Disconnected,
            _ => StreamMessageKind.Data,
        };
        if (run.Lease is { } lease)
        {
            _origin = lease;
            _slot = run.FirstSlot + index;
            _generation = lease.GenerationOf(_slot);
        }
        else
        {
            _origin = run.Link;
        }
    }

    /// <summary>Connect, disconnect or data.</summary>
    public StreamMessageKind Kind { get; }

    /// <summary>The peer concerned: 1, 2, 3 ... per socket in order of arrival.</summary>
    public uint PeerId { get; }

    /// <summary>Why the peer is gone, for <see cref="StreamMessageKind.Disconnected"/>.</summary>
    public DisconnectReason Reason { get; }

    /// <summary>The address of the peer concerned, also when that is gone by now. Null if it was gone before we could look, and for a
    /// message that was never received.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public EndPoint? RemoteEndPoint => Link?.Remote;

    /// <summary>The payload, valid until Dispose. Empty for events.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> Payload => Lease is { } lease ? lease.Payload(_slot, _generation) : ReadOnlyMemory<byte>.Empty;

    /// <summary>The payload, valid until Dispose. Empty for events.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
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

            // Read before it is looked at whether the message lives: a lease that has ended serves another peer.
            var link = lease.Source as StreamLink;
            return lease.IsLive(_slot, _generation) ? link : throw InboundLease.Ended();
        }
    }

    /// <summary>Those of the messages, from the first one on, that were read together and lie behind one another.</summary>
    /// <exception cref="ArgumentException">The first is an event.</exception>
    /// <exception cref="ObjectDisposedException">One of them was disposed.</exception>
    internal static InboundRun RunOf(ReadOnlySpan<StreamMessage> messages)
    {
        ref readonly StreamMessage first = ref messages[0];
        InboundLease lease = first.Lease ?? throw new ArgumentException(
            "A connect or disconnect event has no payload to send.", nameof(messages));
        int most = Math.Min(messages.Length, InboundLease.GroupSize - (first._slot % InboundLease.GroupSize));
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

    /// <summary>Ends the lease; idempotent, and nothing to do for events.</summary>
    public void Dispose() => Lease?.Release(_slot, _generation);

    /// <summary>The message on its way to a peer, for a send that may wait.</summary>
    /// <exception cref="ObjectDisposedException">It was disposed.</exception>
    internal DeferredMessage Defer() => new(Lease!, _slot, _generation, StreamSender.HeaderOf(Payload.Length));
}
