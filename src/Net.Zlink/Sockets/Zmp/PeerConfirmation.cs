using Net.Zlink.Sockets.Pipes;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>What a connection knows of whether its peer receives: a peer that has no place for this socket ends the connection right behind the handshake, and what was written by then is lost. A part of its session, on the shard, never to be copied.</summary>
/// <remarks>
/// A connection of ours is brief if nothing came behind READY and the peer ended it within <see cref="BriefTime"/>. Behind one no message leaves by the next connection before a frame has come, for which a HEARTBEAT asks.
/// What a brief connection had taken is unconfirmed, as is what was written behind the last frame before an ERROR: nothing in ZMP says how much of it was received.
/// </remarks>
internal struct PeerConfirmation
{
    private static readonly TimeSpan BriefTime = TimeSpan.FromSeconds(5);

    private long _atLastFrame;
    private bool _isHeard;
    private bool _isWaiting;
    private bool _isSettled;

    /// <summary>The handshake is complete. False: no message is to leave before the peer is heard.</summary>
    public bool Begin(WirePipe pipe)
    {
        _atLastFrame = pipe.Queue.WrittenMessages;
        _isWaiting = pipe.MustConfirm;
        pipe.AsksWhenQueued = _isWaiting;
        return !_isWaiting;
    }

    /// <summary>A read brought frames behind READY, and no fault. True: messages may leave now.</summary>
    public bool OnFrames(WirePipe pipe)
    {
        _atLastFrame = pipe.Queue.WrittenMessages;
        if (_isHeard)
        {
            return false;
        }

        _isHeard = true;
        pipe.MustConfirm = false;
        return End(pipe);
    }

    /// <summary>No message waits for the peer's answer any more. True: they did.</summary>
    public bool End(WirePipe pipe)
    {
        bool waited = _isWaiting;
        _isWaiting = false;
        pipe.AsksWhenQueued = false;
        return waited;
    }

    /// <summary>A message may wait. True: the peer is to be asked now, once.</summary>
    public readonly bool IsToAsk(WirePipe pipe)
    {
        bool asks = _isWaiting && pipe.AsksWhenQueued && pipe.Queue.Counts.QueuedMessages > 0;
        pipe.AsksWhenQueued &= !asks;
        return asks;
    }

    /// <summary>Whether a connection that the peer ended after so much time was brief.</summary>
    public readonly bool IsBrief(TimeSpan readyFor) => !_isHeard && readyFor < BriefTime;

    /// <summary>Nothing more is written by this connection: counts what may not have been received, once.</summary>
    /// <returns>How many messages.</returns>
    public long Settle(WirePipe pipe)
    {
        long messages = _isSettled ? 0 : pipe.Queue.WrittenMessages - _atLastFrame;
        _isSettled = true;
        pipe.AddUnconfirmed(messages);
        return messages;
    }
}
