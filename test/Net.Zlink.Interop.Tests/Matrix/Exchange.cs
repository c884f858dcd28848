using System.Globalization;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Matrix;

/// <summary>What is sent over a link, and checked where it arrives.</summary>
internal static class Exchange
{
    // Around the borders of the formats: nothing, one byte, the largest body that the core keeps inside its message (33), one and two
    // length bytes (255, 256),
    // one read (8 KB), over one read (64 KB), over every buffer (1 MB).
    private static readonly int[] Sizes = [0, 1, 33, 255, 256, 8 * 1024, 64 * 1024, 1024 * 1024];
    private static readonly int[] PartCounts = [1, 5];

    // Ends within seconds, and passes every batch and slab boundary many times over.
    private const int Flood = 100_000;

    // Over tls, ws and wss a message costs several times as much, and there are three of them: with 100,000 the suite takes four minutes on
    // two busy cores.
    // This is still 30 of the largest writes, and a hundred TLS records.
    private const int LayeredFlood = 20_000;

    /// <summary>Messages of every shape, each way, one by one and then all behind each other.</summary>
    public static void OfEveryShape(PeerLink link)
    {
        (int Parts, int Size)[] shapes = [.. PartCounts.SelectMany(static _ => Sizes, static (parts, size) => (parts, size))];
        foreach ((LinkEnd from, LinkEnd to) in link.Ways)
        {
            foreach ((int parts, int size) in shapes)
            {
                from.Send(TestPayload.MakeMessage(size, parts, size));
                AssertShape(parts, size, to.Receive());
            }

            foreach ((int parts, int size) in shapes)
            {
                from.Send(TestPayload.MakeMessage(size, parts, size));
            }

            foreach ((int parts, int size) in shapes)
            {
                AssertShape(parts, size, to.Receive());
            }
        }
    }

    /// <summary>Tens of thousands of messages, each way at once.</summary>
    public static Task OfManyAsync(PeerLink link, int most = Flood)
    {
        int count = TestTransports.Layered.Contains(link.Transport) ? LayeredFlood : most;
        return Task.WhenAll(
            Limits.OnThread(() => SendAndReceive(link.Ours, count, link.Theirs.Sends ? count : 0)),
            Limits.OnThread(() => SendAndReceive(link.Theirs, count, link.Ours.Sends ? count : 0)));
    }

    private static void SendAndReceive(LinkEnd end, int count, int expected)
    {
        int received = 0;
        for (int i = 0; end.Sends && i < count; i++)
        {
            end.Send(FloodMessage(i));

            // Now and then what has come meanwhile is taken, as an application does it.
            if (i % 16 == 0 && received < expected && end.Receive(TimeSpan.Zero) is { } message)
            {
                AssertFlood(received++, message);
            }
        }

        while (received < expected)
        {
            AssertFlood(received++, end.Receive());
        }
    }

    // Sizes from 8 to 107 bytes, every tenth message of two parts: short and long headers at every offset of a buffer.
    private static byte[][] FloodMessage(int i) => TestPayload.MakeMessage(i, i % 10 == 0 ? 2 : 1, 8 + (i % 100));

    private static void AssertFlood(int i, byte[][] message)
    {
        Assert.True(message[0].Length >= 8 && TestPayload.NumberOf(message[0]) == i, $"message {i} is another, or damaged");
        TestPayload.AssertEqual(FloodMessage(i), message, string.Create(CultureInfo.InvariantCulture, $"message {i}"));
    }

    private static void AssertShape(int parts, int size, byte[][] actual) =>
        TestPayload.AssertEqual(TestPayload.MakeMessage(size, parts, size), actual,
            string.Create(CultureInfo.InvariantCulture, $"{parts} parts of {size} bytes"));
}
