using System.Globalization;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>Plays one case of RFC 6455 with a STREAM socket, in whichever role that is, and compares what comes of it with the case's line
/// in Rfc6455.txt.</summary>
internal static class ConformanceTable
{
    private static readonly Lazy<Dictionary<string, string>> Expectations = new(static () =>
        File.ReadLines(Path.Combine(AppContext.BaseDirectory, "Rfc6455.txt"))
            .Where(static line => line.Length > 0 && line[0] != '#')
            .Select(static line => line.Split('|'))
            .ToDictionary(static parts => parts[0].Trim(), static parts => parts[2].Trim(), StringComparer.Ordinal));

    /// <summary>The cases that have a line.</summary>
    public static IEnumerable<string> Ids => Expectations.Value.Keys;

    /// <summary>Has the other end say the bytes of a case, a ping and CLOSE 1000.</summary>
    /// <param name="id">Which case.</param>
    /// <param name="weConnect">Ours is the client: its frames have masks, and it waits for the other end of TCP.</param>
    /// <param name="piece">Bytes that are sent at a time.</param>
    public static async Task PlayAsync(string id, bool weConnect, int piece)
    {
        ConformanceCase one = (weConnect ? ConformanceCases.OfServer : ConformanceCases.OfClient)
            .Single(c => string.Equals(c.Id, id, StringComparison.Ordinal));
        await using var fixture = new StreamFixture();
        (StreamSocket ours, RawWebSocket theirs, uint peer) = await RawWebSocket.PairAsync(fixture, weConnect);
        theirs.Peer.Socket.NoDelay = true; // Pieces stay pieces.
        byte[] ping = RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Ping, "?"u8, masked: !weConnect);
        await SendInPiecesAsync(theirs, [.. one.Bytes, .. ping, .. RawWebSocket.CloseFrame(1000, masked: !weConnect)], piece);
        var outcome = new StringBuilder();
        while (await theirs.ReadFrameAsync() is { } frame)
        {
            Assert.Equal(weConnect, frame.IsMasked);
            outcome.Append(Describe(frame)).Append(' ');
            if (weConnect && frame.IsClose)
            {
                theirs.Peer.EndSending(); // RFC 6455, 7.1.1: the server's TCP ends first. Read on: nothing may come behind a CLOSE.
            }
        }

        theirs.Dispose();
        outcome.Append('/');
        while (true)
        {
            using StreamMessage message = await ours.NextAsync();
            Assert.Equal(peer, message.PeerId);
            if (message.Kind == StreamMessageKind.Disconnected)
            {
                outcome.Append(' ').Append(message.Reason);
                break;
            }

            outcome.Append(CultureInfo.InvariantCulture, $" z{message.Span.Length}");
        }

        string? expected = Expectations.Value.GetValueOrDefault(one.Id);
        Assert.True(string.Equals(expected, outcome.ToString(), StringComparison.Ordinal),
            $"{one.Id}, {one.Title}: expected {expected}, came {outcome}");
    }

    private static async Task SendInPiecesAsync(RawWebSocket theirs, byte[] bytes, int piece)
    {
        // So many pieces that every border of a short case is cut; the rest of a long one in one.
        const int MostPieces = 50;
        int sent = 0;
        for (int i = 0; i < MostPieces && sent < bytes.Length; i++)
        {
            int length = Math.Min(piece, bytes.Length - sent);
            await theirs.Peer.SendAsync(bytes.AsMemory(sent, length));
            sent += length;
        }

        await theirs.Peer.SendAsync(bytes.AsMemory(sent));
    }

    private static string Describe(WebSocketFrame frame) => (frame.First & 0x7F) switch
    {
        _ when (frame.First & RawWebSocket.Fin) == 0 => "fragment",
        RawWebSocket.Pong when frame.Payload.AsSpan().SequenceEqual("?"u8) => "pong?",
        RawWebSocket.Pong when frame.Payload.Length < 4 => $"pong[{Convert.ToHexString(frame.Payload)}]",
        RawWebSocket.Pong when frame.Payload.AsSpan().SequenceEqual(Wire.Pattern(frame.Payload.Length)) =>
            string.Create(CultureInfo.InvariantCulture, $"pong{frame.Payload.Length}"),
        RawWebSocket.Close => string.Create(CultureInfo.InvariantCulture, $"close{frame.Code}{(frame.Payload.Length > 2 ? "+" : "")}"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{frame.First:X2}"),
    };
}
