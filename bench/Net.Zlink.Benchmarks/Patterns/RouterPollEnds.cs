namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>ROUTER to ROUTER, each receive after a poll that says there is a message.</summary>
internal readonly struct RouterPollEnds(RouterSocket bound, RouterSocket connected, Poller forth, Poller back) : IPatternEnds
{
    private readonly RouterRouterEnds _ends = new(bound, connected);
    private readonly PollResult[] _forthResult = new PollResult[1];
    private readonly PollResult[] _backResult = new PollResult[1];

    public static bool HasWayBack => true;

    public ReceivingSocket Receiver => bound;

    public void Send(ReadOnlySpan<byte> payload) => _ends.Send(payload);

    public void Receive(Span<byte> payload)
    {
        Await(forth, _forthResult);
        _ends.Receive(payload);
    }

    public void SendBack(ReadOnlySpan<byte> payload) => _ends.SendBack(payload);

    public void ReceiveBack(Span<byte> payload)
    {
        Await(back, _backResult);
        _ends.ReceiveBack(payload);
    }

    public void AwaitConnection() => _ends.AwaitConnection();

    private static void Await(Poller poller, PollResult[] result)
    {
        if (poller.Poll(result, Timeout.InfiniteTimeSpan) == 0)
        {
            throw new InvalidOperationException("A poll without a timeout ended with nothing.");
        }
    }
}
