using System.Globalization;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>One way to use two sockets of a process, both measured.</summary>
/// <param name="Pattern">PAIR, DEALER_ROUTER, PUBSUB or XSUB_XPUB.</param>
/// <param name="Transport">tcp, ipc, inproc, tls, ws, wss or pipe.</param>
/// <param name="Mode">How; see <see cref="ZmpModes"/>.</param>
/// <param name="Size">Payload bytes.</param>
internal sealed record ZmpAllocCase(string Pattern, string Transport, string Mode, int Size)
{
    private const int Small = 64;

    // Long enough to go without a copy inside.
    private const int Large = 32 * 1024;

    public const string Pair = "PAIR";
    public const string DealerRouter = "DEALER_ROUTER";
    public const string PubSub = "PUBSUB";
    public const string XSubXPub = "XSUB_XPUB";

    private static readonly string[] Plain = ["tcp", "ipc", "inproc"];

    // Above the wire they are as tcp: one pattern shows what the wire costs.
    private static readonly string[] Wrapped = ["tls", "ws", "wss"];

    /// <summary>Both sockets accept an end of a pipe.</summary>
    public const string Pipe = "pipe";

    public static string[] Transports { get; } = [.. Plain, .. Wrapped, Pipe];

    public static string[] Patterns { get; } = [Pair, DealerRouter, PubSub, XSubXPub];

    public static IReadOnlyList<ZmpAllocCase> All { get; } =
    [
        .. from transport in Plain
           from pattern in Patterns
           from mode in ZmpModes.All
           select new ZmpAllocCase(pattern, transport, mode, Small),
        .. from transport in (string[])[.. Wrapped, Pipe]
           from mode in ZmpModes.All
           where !string.Equals(mode, ZmpModes.Batches, StringComparison.Ordinal) // Nothing of which is in the wire.
           select new ZmpAllocCase(Pair, transport, mode, Small),
        .. from transport in Transports select new ZmpAllocCase(Pair, transport, ZmpModes.PingPong, Large),
    ];

    /// <summary>It goes through the base library's streams, and writes to them have to wait.</summary>
    public bool FillsStreams => Wrapped.Contains(Transport, StringComparer.Ordinal)
        && !string.Equals(Mode, ZmpModes.PingPong, StringComparison.Ordinal);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Pattern} {Transport}, {Mode}, {Size} B");
}

/// <summary>The ways to use two sockets that are measured.</summary>
internal static class ZmpModes
{
    /// <summary>As fast as it goes: SendAsync on one task, ReceiveAsync on another.</summary>
    public const string Flood = "flood";

    /// <summary>One message at a time: every receive really waits.</summary>
    public const string PingPong = "ping-pong";

    /// <summary>As flood, with high-water marks of a few messages: again and again a send really waits. From the ROUTER to the DEALER,
    /// whose waiting sends have an id to remember.</summary>
    public const string SendWaits = "send-waits";

    /// <summary>As send-waits, with SendManyAsync and ReceiveManyAsync: batches longer than the marks, so that each waits in its
    /// midst.</summary>
    public const string Batches = "batches";

    public static string[] All { get; } = [Flood, PingPong, SendWaits, Batches];

    /// <summary>The marks are a few messages, and the ROUTER is who sends.</summary>
    public static bool IsSlow(string mode) => mode is SendWaits or Batches;
}
