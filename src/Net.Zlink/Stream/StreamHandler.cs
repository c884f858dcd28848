using Net.Zlink.Monitoring;

namespace Net.Zlink;

/// <summary>Receives the frames of peers as they arrive, on each peer's own shard. Derive from it and pass it to Bind or
/// ConnectAsync.</summary>
/// <remarks>
/// Calls for one peer never overlap; calls for different peers do. A call holds its shard, and with it every other peer of that shard:
/// answer in place, or return an incomplete ValueTask and go on elsewhere. While it is incomplete only its own peer waits (it is not read,
/// so TCP pushes back to it, and its end is noticed when the call completes: give what you await in it a time limit).
/// The end of a socket or a context does not wait for such calls, and peers cannot be sent to any more by then:
/// <see cref="OnDisconnected"/> then comes when the call completes, which may be later.
/// Never block in a handler; one that holds its shard for more than 50 ms is reported by an event. A handler that throws ends its peer,
/// with an event, and nothing else.
/// A call begins in an empty execution context: no AsyncLocal has a value, and what it sets is seen by no other call.
/// </remarks>
public abstract class StreamHandler
{
    /// <summary>A peer has connected; no frame of it comes before this returns.</summary>
    /// <param name="peer">The peer.</param>
    public virtual void OnConnected(StreamPeer peer)
    {
    }

    /// <summary>Frames have arrived. What is sent to the peer before this returns leaves in one write.</summary>
    /// <param name="peer">The peer.</param>
    /// <param name="frames">The frames of one read, valid until the returned task completes.</param>
    /// <returns>A task that is complete when the frames are dealt with; the peer's next frames come after that.</returns>
    public abstract ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames);

    /// <summary>A peer is gone; nothing of it comes after this. Called once per peer that OnConnected was called for.</summary>
    /// <param name="peer">The peer; it cannot be sent to any more.</param>
    /// <param name="reason">Why.</param>
    public virtual void OnDisconnected(StreamPeer peer, DisconnectReason reason)
    {
    }
}
