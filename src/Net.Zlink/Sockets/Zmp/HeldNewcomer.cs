using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>A connection whose handshake is complete and whose place another one has, until it is known whether that is still there: what it has sent is kept, and nothing is answered. A part of its session, never to be copied.</summary>
internal struct HeldNewcomer
{
    // Heartbeats that came in the same read as READY. A peer has no reason to send more than one.
    private const int MaxOwed = 4 * ZmpHeartbeatAck.LargestAnswer;

    private WirePipe? _waitsFor;
    private byte[]? _owed;

    /// <summary>Whose place it waits for; null: it does not wait.</summary>
    public WirePipe? WaitsFor
    {
        readonly get => Volatile.Read(in _waitsFor);
        set => Volatile.Write(ref _waitsFor, value);
    }

    /// <summary>Who the newcomer is.</summary>
    public PeerIdentity? Peer { get; set; }

    /// <summary>Keeps the answer to a heartbeat for later.</summary>
    public void Owe(ReadOnlySpan<byte> answer)
    {
        if ((_owed?.Length ?? 0) + answer.Length <= MaxOwed)
        {
            _owed = [.. _owed ?? [], .. answer];
        }
    }

    /// <summary>The answers that were kept; none are kept any more.</summary>
    public byte[]? TakeOwed()
    {
        byte[]? owed = _owed;
        _owed = null;
        return owed;
    }
}
