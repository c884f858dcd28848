namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>PUB: sends only.</summary>
internal readonly struct PubPort(PubSocket socket) : IServerPort
{
    public void Send(ReadOnlySpan<byte> payload) => socket.Send(payload);

    public bool TrySend(ReadOnlySpan<byte> payload) => socket.TrySend(payload);

    public void Receive(Span<byte> payload) => throw new NotSupportedException();

    public bool TryReceive(Span<byte> payload) => throw new NotSupportedException();

    public int ReceiveMany(Span<byte> payload, int most) => throw new NotSupportedException();

    public void Answer(ReadOnlySpan<byte> payload) => throw new NotSupportedException();
}

/// <summary>SUB: receives only.</summary>
internal readonly struct SubPort(SubSocket socket) : IPort
{
    private readonly Message[] _many = CopyingReceive.NewBatch();

    public void Send(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public bool TrySend(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public void Receive(Span<byte> payload) => socket.ReceiveInto(payload);

    public bool TryReceive(Span<byte> payload) => socket.TryReceiveInto(payload);

    public int ReceiveMany(Span<byte> payload, int most) => socket.ReceiveManyInto(_many, payload, most);
}
