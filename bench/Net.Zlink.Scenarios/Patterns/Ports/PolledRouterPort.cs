namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>ROUTER, each receive after a poll that says there is a message.</summary>
internal readonly struct PolledRouterPort(RouterSocket socket, byte[] peerId, SocketPoller poller) : IServerPort
{
    private readonly RouterPort _port = new(socket, peerId);
    private readonly PollResult[] _result = new PollResult[1];

    public void Send(ReadOnlySpan<byte> payload) => _port.Send(payload);

    public bool TrySend(ReadOnlySpan<byte> payload) => _port.TrySend(payload);

    public void Receive(Span<byte> payload)
    {
        if (poller.Poll(_result, Timeout.InfiniteTimeSpan) == 0)
        {
            throw new InvalidOperationException("A poll without a timeout ended with nothing.");
        }

        _port.Receive(payload);
    }

    public bool TryReceive(Span<byte> payload) => poller.Poll(_result, TimeSpan.Zero) > 0 && _port.TryReceive(payload);

    public int ReceiveMany(Span<byte> payload, int most) => poller.Poll(_result, TimeSpan.Zero) > 0 ? _port.ReceiveMany(payload, most) : 0;

    public void Answer(ReadOnlySpan<byte> payload) => _port.Answer(payload);
}
