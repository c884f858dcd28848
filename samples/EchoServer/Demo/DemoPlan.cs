namespace EchoServer.Demo;

/// <summary>One row of the demo's table: this many connections, each with so many messages on their way.</summary>
internal readonly record struct DemoStep(int Connections, int InFlight)
{
    public override string ToString() => $"{Connections:N0} x {InFlight}";
}

/// <summary>What the demo runs: latency with one connection, then throughput with 1, 100 and 1,000.</summary>
internal static class DemoPlan
{
    /// <summary>
    /// Bytes of an ordinary message. Among them, regularly, come payloads of the single byte 00, the single byte 01, and nothing.
    /// </summary>
    public const int MessageSize = 1024;

    public const int MostConnections = 1000;

    /// <summary>30 in flight keeps a connection busy without its queue being all that is measured.</summary>
    private const int Pipelined = 30;

    public static readonly DemoStep[] Steps =
    [
        new(1, 1),
        new(1, Pipelined),
        new(100, Pipelined),
        new(MostConnections, Pipelined),
    ];

    /// <summary>
    /// Comes before the steps and is not in the table: it lets the just-in-time compiler reach its best code and the thread pool its size,
    /// which would otherwise happen, and allocate, while the first step is measured.
    /// </summary>
    public static readonly DemoStep WarmUpStep = new(100, Pipelined);

    public static readonly TimeSpan WarmUpStepTime = TimeSpan.FromSeconds(1);

    /// <summary>Each step settles for this long before it is measured: new connections, and buffers of the size that it needs.</summary>
    public static readonly TimeSpan SettleTime = TimeSpan.FromSeconds(0.5);

    /// <summary>
    /// How long the last replies of a step may take. They need milliseconds; a reply that takes longer than this is lost.
    /// </summary>
    public static readonly TimeSpan ReplyDeadline = TimeSpan.FromSeconds(10);
}
