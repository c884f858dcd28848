using System.Globalization;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>One way to send each message to several sockets of the same process, all of them measured.</summary>
/// <param name="Sender">PUB, XPUB or XSUB.</param>
/// <param name="Transport">inproc or tcp.</param>
/// <param name="Size">Payload bytes.</param>
internal sealed record FanoutAllocCase(string Sender, string Transport, int Size)
{
    /// <summary>To how many: with two, nobody is between the first and the last.</summary>
    public const int Peers = 3;

    public const string Pub = "PUB";
    public const string XPub = "XPUB";
    public const string XSub = "XSUB";

    // Over wires long messages lie in the pool's memory, of which a process has a reserve from the start. Three queues of these lengths
    // stay within it; longer ones would now and then be longer than ever before.
    private const int LongSendMark = 256; // 16 arrays of 64 KiB each, of 64
    private const int LongReceiveMark = 4; // with what a read brings beside these 8 of 20 KiB each, of 32

    // Copied for each.
    private const int Small = 64;

    // Within the process all get the same memory, each wire a copy.
    private const int Long = 4 * 1024;

    // Wires, too, send it from where it lies.
    private const int Large = 16 * 1024;

    public static string[] Senders { get; } = [Pub, XPub, XSub];

    public static string[] Transports { get; } = ["inproc", "tcp"];

    public static IReadOnlyList<FanoutAllocCase> All { get; } =
    [
        .. from transport in Transports
           from sender in Senders
           from size in new[] { Small, Long, Large }
           select new FanoutAllocCase(sender, transport, size),
    ];

    /// <summary>With the memory that they are in; else the payload is copied when it is sent.</summary>
    public bool HandsOver => Size > Small;

    /// <summary>An XSUB drops where the others wait for room, so it waits now and then until all that it has sent is received.</summary>
    public bool IsPaced => string.Equals(Sender, XSub, StringComparison.Ordinal);

    /// <summary>The high-water marks of all sockets.</summary>
    public (int Send, int Receive) MarksOf(int highWaterMark) =>
        HandsOver && !IsInproc ? (Math.Min(highWaterMark, LongSendMark), Math.Min(highWaterMark, LongReceiveMark))
            : (highWaterMark, highWaterMark);

    public bool IsInproc => string.Equals(Transport, "inproc", StringComparison.Ordinal);

    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture, $"{Sender} {Transport}, fan-out to {Peers}, {Size} B{(HandsOver ? " handed over" : "")}");
}
