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
/// Copies of this struct are the same lease: the first Dispose ends all of them, a second one is harmless, and reading the payload afterwards throws.
/// A message may be passed to and disposed on any thread, but do not dispose it while another thread reads it. A message that is never disposed keeps its
/// buffer from being reused until it is collected.
/// </remarks>
public readonly struct StreamMessage : IDisposable
{
    private readonly InboundLease? _lease;
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
        _lease = run.Lease;
        if (_lease is not null)
        {
            _slot = run.FirstSlot + index;
            _generation = _lease.GenerationOf(_slot);
        }
    }

    /// <summary>Connect, disconnect or data.</summary>
    public StreamMessageKind Kind { get; }

    /// <summary>The peer concerned: 1, 2, 3 ... per socket in order of arrival.</summary>
    public uint PeerId { get; }

    /// <summary>Why the peer is gone, for <see cref="StreamMessageKind.Disconnected"/>.</summary>
    public DisconnectReason Reason { get; }

    /// <summary>The payload, valid until Dispose. Empty for events.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> Payload => _lease is null ? ReadOnlyMemory<byte>.Empty : _lease.Payload(_slot, _generation);

    /// <summary>The payload, valid until Dispose. Empty for events.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlySpan<byte> Span => Payload.Span;

    /// <summary>Ends the lease; idempotent, and nothing to do for events.</summary>
    public void Dispose() => _lease?.Release(_slot, _generation);
}
