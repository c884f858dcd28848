namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>DEALER to ROUTER. The router takes the id with each message, and answers by it.</summary>
internal readonly struct DealerRouterEnds(RouterSocket router, DealerSocket dealer) : IPatternEnds
{
    private readonly byte[] _id = new byte[RoutingIds.Longest];
    private readonly int[] _idLength = new int[1];

    public static bool HasWayBack => true;

    public ReceivingSocket Receiver => router;

    public void Send(ReadOnlySpan<byte> payload) => dealer.Send(payload);

    public void Receive(Span<byte> payload) => _idLength[0] = router.ReceiveInto(_id, payload);

    public void SendBack(ReadOnlySpan<byte> payload) => router.Send(_id.AsSpan(0, _idLength[0]), payload);

    public void ReceiveBack(Span<byte> payload) => dealer.ReceiveInto(payload);

    public void AwaitConnection()
    {
        // A dealer waits for its peer by itself.
    }
}

/// <summary>ROUTER to ROUTER, both by id.</summary>
internal readonly struct RouterRouterEnds(RouterSocket bound, RouterSocket connected) : IPatternEnds
{
    private readonly byte[] _id = new byte[RoutingIds.Longest];
    private readonly int[] _idLength = new int[1];

    public static bool HasWayBack => true;

    public ReceivingSocket Receiver => bound;

    public void Send(ReadOnlySpan<byte> payload) => connected.Send(RoutingIds.Bound, payload);

    public void Receive(Span<byte> payload) => _idLength[0] = bound.ReceiveInto(_id, payload);

    public void SendBack(ReadOnlySpan<byte> payload) => bound.Send(_id.AsSpan(0, _idLength[0]), payload);

    public void ReceiveBack(Span<byte> payload) => connected.ReceiveInto(_id, payload);

    public void AwaitConnection() => RoutingIds.Greet(bound, connected);
}

/// <summary>The ids of the two routers, and their first words: a mandatory router refuses to send before it knows its peer.</summary>
internal static class RoutingIds
{
    /// <summary>The protocol's limit.</summary>
    public const int Longest = 255;

    public static ReadOnlySpan<byte> Bound => "ROUTER1"u8;

    public static ReadOnlySpan<byte> Connected => "ROUTER2"u8;

    public static void Greet(RouterSocket bound, RouterSocket connected)
    {
        Settling.Until(connected, static connected => connected.TrySend(Bound, "PING"u8));
        bound.Receive().Dispose();
        Settling.Until(bound, static bound => bound.TrySend(Connected, "PONG"u8));
        connected.Receive().Dispose();
    }
}
