using Net.Zlink.Monitoring;

namespace Net.Zlink;

/// <summary>Gets the frames of peers as they arrive, on each peer's shard. Derive from it and pass it to Bind or ConnectAsync.</summary>
/// <remarks>
/// <para>
/// Calls for one peer never overlap; calls for different peers do. A call occupies its shard and all other peers of it. Answer in place, or
/// return an incomplete ValueTask and continue elsewhere. Never block: an event reports a call of more than 50 ms.
/// </para>
/// <para>
/// While a task is incomplete only its own peer waits: it is not read, so TCP slows it down, and its end is noticed after the task. So give
/// each wait a time limit. The end of a socket or context does not wait for such tasks; <see cref="OnDisconnected"/> may then come later.
/// </para>
/// <para>An exception ends the peer, with an event. Each call begins in an empty execution context without AsyncLocal values.</para>
/// </remarks>
/// <example>
/// <code>
/// sealed class Echo : StreamHandler
/// {
///     public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
///     {
///         peer.SendMany(frames);
///         return default;
///     }
/// }
/// </code>
/// </example>
public abstract class StreamHandler
{
    /// <summary>A peer has connected. Its frames come after this returns.</summary>
    /// <param name="peer">The peer.</param>
    public virtual void OnConnected(StreamPeer peer)
    {
    }

    /// <summary>Frames have arrived. What is sent to the peer before this returns leaves in one write.</summary>
    /// <param name="peer">The peer.</param>
    /// <param name="frames">The frames of one read, valid until the returned task completes.</param>
    /// <returns>A task that completes when the frames are processed. The peer's next frames come after that.</returns>
    public abstract ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames);

    /// <summary>A peer has disconnected; no call for it follows. Called once for each OnConnected.</summary>
    /// <param name="peer">The peer. It cannot be sent to any more.</param>
    /// <param name="reason">Why.</param>
    public virtual void OnDisconnected(StreamPeer peer, DisconnectReason reason)
    {
    }
}
