namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>PAIR or DEALER.</summary>
internal readonly struct DuplexPort(DuplexSocket socket) : IServerPort
{
    private readonly Message[] _many = CopyingReceive.NewBatch();

    public void Send(ReadOnlySpan<byte> payload) => socket.Send(payload);

    public bool TrySend(ReadOnlySpan<byte> payload) => socket.TrySend(payload);

    public void Receive(Span<byte> payload) => socket.ReceiveInto(payload);

    public bool TryReceive(Span<byte> payload) => socket.TryReceiveInto(payload);

    public int ReceiveMany(Span<byte> payload, int most) => socket.ReceiveManyInto(_many, payload, most);

    public void Answer(ReadOnlySpan<byte> payload) => socket.Send(payload);
}
