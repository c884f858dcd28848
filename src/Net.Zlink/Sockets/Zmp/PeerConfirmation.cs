using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// A peer without a place for this socket ends the connection right after the handshake, and what was written by then is lost. A dialled
/// connection is brief if nothing came behind READY and the peer ended it within <see cref="BriefTime"/>. Then no message leaves on the
/// next connection before a frame has come; a HEARTBEAT asks for one. On the shard; never copy it.
/// </summary>
internal struct PeerConfirmation
{
    private static readonly TimeSpan BriefTime = TimeSpan.FromSeconds(5);

    private long _atLastFrame;
    private bool _isHeard;
    private bool _isWaiting;
    private bool _isSettled;

    /// <summary>False: no message may leave before a frame has come.</summary>
    public bool Begin(WireLink link)
    {
        _atLastFrame = link.Queue.WrittenMessages;
        _isWaiting = link.MustConfirm;
        link.AsksWhenQueued = _isWaiting;
        return !_isWaiting;
    }

    public bool OnFrames(WireLink link)
    {
        _atLastFrame = link.Queue.WrittenMessages;
        if (_isHeard)
        {
            return false;
        }

        _isHeard = true;
        link.MustConfirm = false;
        return End(link);
    }

    public bool End(WireLink link)
    {
        bool waited = _isWaiting;
        _isWaiting = false;
        link.AsksWhenQueued = false;
        return waited;
    }

    public readonly bool IsToAsk(WireLink link)
    {
        bool asks = _isWaiting && link.AsksWhenQueued && link.Queue.Counts.QueuedMessages > 0;
        link.AsksWhenQueued &= !asks;
        return asks;
    }

    public readonly bool IsBrief(TimeSpan readyFor) => !_isHeard && readyFor < BriefTime;

    public long Settle(WireLink link)
    {
        long messages = _isSettled ? 0 : link.Queue.WrittenMessages - _atLastFrame;
        _isSettled = true;
        if (messages > 0)
        {
            link.Socket.Counters.AddUnconfirmed(link, messages);
        }

        return messages;
    }
}
