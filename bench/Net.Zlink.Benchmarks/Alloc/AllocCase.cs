namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>One way to drive and consume a socket.</summary>
/// <param name="Mode">How the measured process consumes it; see <see cref="EchoModes"/>.</param>
/// <param name="Connections">Connections at once.</param>
/// <param name="InFlight">Messages on their way per connection: 1 is ping-pong, where every receive of the measured process waits.</param>
/// <param name="Size">Payload bytes.</param>
internal sealed record AllocCase(string Mode, int Connections, int InFlight, int Size)
{
    // A window this deep keeps the measured side's queues from running empty; a fourth of it per connection would already do.
    private const int FloodWindow = 256;
    private const int FloodConnections = 8;
    private const int SmallPayload = 64;
    private const int LargePayload = 1024;

    public static IReadOnlyList<AllocCase> ForServer { get; } =
    [
        new(EchoModes.Push, FloodConnections, FloodWindow, SmallPayload),
        new(EchoModes.Push, FloodConnections, FloodWindow, LargePayload),
        new(EchoModes.Push, 1, 1, SmallPayload),
        new(EchoModes.Pull, FloodConnections, FloodWindow, SmallPayload),
        new(EchoModes.Pull, FloodConnections, FloodWindow, LargePayload),
        new(EchoModes.Pull, 1, 1, SmallPayload),
        new(EchoModes.PullMany, FloodConnections, FloodWindow, SmallPayload),
        new(EchoModes.PushOn, FloodConnections, FloodWindow, SmallPayload),
        new(EchoModes.PushOn, FloodConnections, FloodWindow, LargePayload),
        new(EchoModes.PullHere, FloodConnections, FloodWindow, SmallPayload),
        new(EchoModes.PullHere, FloodConnections, FloodWindow, LargePayload),
        new(EchoModes.PullHere, 1, 1, SmallPayload),
        new(EchoModes.SendWaits, FloodConnections, FloodWindow, LargePayload),
        new(EchoModes.Batches, FloodConnections, FloodWindow, LargePayload),
        new(EchoModes.BatchesOn, FloodConnections, FloodWindow, LargePayload),
    ];

    public static IReadOnlyList<AllocCase> ForClient { get; } =
    [
        new(EchoModes.Push, 1, FloodWindow, SmallPayload),
        new(EchoModes.Push, 1, 1, SmallPayload),
        new(EchoModes.Pull, 1, FloodWindow, SmallPayload),
        new(EchoModes.Pull, 1, 1, SmallPayload),
    ];

    public string Pattern => InFlight == 1 ? "ping-pong" : "flood";

    public override string ToString() => $"{Mode}, {Pattern}, {Connections} x {Size} B x {InFlight}";
}

/// <summary>The ways to consume a socket that are measured.</summary>
internal static class EchoModes
{
    /// <summary>A handler answers in place, on the shard.</summary>
    public const string Push = "push";

    /// <summary>A loop of ReceiveAsync.</summary>
    public const string Pull = "pull";

    /// <summary>A loop of ReceiveManyAsync.</summary>
    public const string PullMany = "pull-many";

    /// <summary>A handler passes the frames back by reference.</summary>
    public const string PushOn = "push-on";

    /// <summary>A loop of ReceiveManyAsync that the shards run, passing back by reference.</summary>
    public const string PullHere = "pull-here";

    /// <summary>As pull, with a high-water mark of a few messages, so that SendAsync really waits.</summary>
    public const string SendWaits = "send-waits";

    /// <summary>As pull-many and send-waits, with SendManyAsync of payloads: batches longer than the mark, so that each waits in its
    /// midst.</summary>
    public const string Batches = "batches";

    /// <summary>As batches, with SendManyAsync of the received messages: what there is room for goes by reference.</summary>
    public const string BatchesOn = "batches-on";

    /// <summary>The ways with a handler.</summary>
    public static bool IsPush(string mode) => mode is Push or PushOn;

    /// <summary>The mark is a few messages.</summary>
    public static bool IsSlow(string mode) => mode is SendWaits or Batches or BatchesOn;

    public static string[] All { get; } = [Push, PushOn, Pull, PullMany, PullHere, SendWaits, Batches, BatchesOn];
}
