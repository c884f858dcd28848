using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>What a waiting newcomer sends is kept, and nothing is answered.</summary>
internal struct HeldNewcomer
{
    // Heartbeats that came in the same read as READY.
    private const int MaxStoredBytes = 4 * ZmpHeartbeatAck.LargestAnswer;

    private WireLink? _waitsFor;
    private byte[]? _stored;

    public WireLink? WaitsFor
    {
        readonly get => Volatile.Read(in _waitsFor);
        set => Volatile.Write(ref _waitsFor, value);
    }

    public PeerIdentity? Peer { get; set; }

    /// <summary>It is read when it gets its place, and leaves it at once to the next of the line unless it has ended.</summary>
    public bool IsToEnd { get; set; }

    public void StoreAnswer(ReadOnlySpan<byte> answer)
    {
        if ((_stored?.Length ?? 0) + answer.Length <= MaxStoredBytes)
        {
            _stored = [.. _stored ?? [], .. answer];
        }
    }

    public byte[]? TakeStoredAnswers()
    {
        byte[]? stored = _stored;
        _stored = null;
        return stored;
    }
}
