using Net.Zlink.Scenarios.Measure;

namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>ROUTER: takes the sender's id with each message, and answers by it.</summary>
internal readonly struct RouterPort(RouterSocket socket, byte[] peerId) : IServerPort
{
    private readonly Message[] _many = CopyingReceive.NewBatch();
    private readonly LastId _last = new();

    public void Send(ReadOnlySpan<byte> payload) => socket.To(peerId).Send(payload);

    public bool TrySend(ReadOnlySpan<byte> payload) => socket.To(peerId).TrySend(payload);

    public void Receive(Span<byte> payload) => _last.Length = socket.ReceiveInto(_last.Bytes, payload);

    public bool TryReceive(Span<byte> payload)
    {
        if (!socket.TryReceive(out Message message))
        {
            return false;
        }

        _last.Length = message.CopyOut(_last.Bytes, payload);
        return true;
    }

    public int ReceiveMany(Span<byte> payload, int most) => socket.ReceiveManyInto(_many, payload, most);

    public void Answer(ReadOnlySpan<byte> payload) => socket.To(_last.Bytes[.._last.Length]).Send(payload);
}

/// <summary>The routing id that came with the last message: the receiving thread's, until it has ended.</summary>
internal sealed class LastId
{
    // The protocol's limit.
    private const int Longest = 255;

    private readonly OwnLines<byte> _bytes = new(Longest);
    private readonly OwnLines<int> _length = new(1);

    public Span<byte> Bytes => _bytes.Span;

    public int Length { get => _length.First; set => _length.First = value; }
}
