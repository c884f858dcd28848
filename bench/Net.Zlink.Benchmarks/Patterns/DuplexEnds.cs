namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>PAIR with PAIR, or DEALER with DEALER: both send and receive.</summary>
internal readonly struct DuplexEnds(DuplexSocket bound, DuplexSocket connected) : IPatternEnds
{
    public static bool HasWayBack => true;

    public ReceivingSocket Receiver => bound;

    public void Send(ReadOnlySpan<byte> payload) => connected.Send(payload);

    public void Receive(Span<byte> payload) => bound.ReceiveInto(payload);

    public void SendBack(ReadOnlySpan<byte> payload) => bound.Send(payload);

    public void ReceiveBack(Span<byte> payload) => connected.ReceiveInto(payload);

    public void AwaitConnection()
    {
        // These types wait for their peer by themselves.
    }
}

/// <summary>PUB to SUB: one way.</summary>
internal readonly struct PubSubEnds(PubSocket publisher, SubSocket subscriber) : IPatternEnds
{
    public static bool HasWayBack => false;

    public ReceivingSocket Receiver => subscriber;

    public void Send(ReadOnlySpan<byte> payload) => publisher.Send(payload);

    public void Receive(Span<byte> payload) => subscriber.ReceiveInto(payload);

    public void SendBack(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public void ReceiveBack(Span<byte> payload) => throw new NotSupportedException();

    public void AwaitConnection() => Settling.Until(publisher, static publisher => publisher.TopicCount > 0);
}
