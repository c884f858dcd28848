using System.Globalization;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>
/// The WebSocket protocol by sections of RFC 6455, as the Autobahn suite goes through it. A client says what a case is about, a ping and CLOSE 1000; the line of the case in
/// Rfc6455.txt has what comes back and what the application sees.
/// </summary>
public sealed class Rfc6455Tests
{
    private static readonly Lazy<Dictionary<string, string>> Expectations = new(static () =>
        File.ReadLines(Path.Combine(AppContext.BaseDirectory, "Rfc6455.txt"))
            .Where(static line => line.Length > 0 && line[0] != '#')
            .Select(static line => line.Split('|'))
            .ToDictionary(static parts => parts[0].Trim(), static parts => parts[2].Trim(), StringComparer.Ordinal));

    public static TheoryData<string> Ids() => [.. ConformanceCases.All.Select(static c => c.Id)];

    [Fact]
    public void Every_case_has_one_expectation_and_every_expectation_its_case() =>
        Assert.Equal(ConformanceCases.All.Select(static c => c.Id).Order(StringComparer.Ordinal), Expectations.Value.Keys.Order(StringComparer.Ordinal), StringComparer.Ordinal);

    [Theory]
    [MemberData(nameof(Ids))]
    public async Task In_one_piece(string id) => await PlayAsync(id, piece: int.MaxValue);

    [Theory]
    [MemberData(nameof(Ids))]
    public async Task In_pieces_of_seven_bytes(string id) => await PlayAsync(id, piece: 7);

    private static async Task PlayAsync(string id, int piece)
    {
        ConformanceCase one = ConformanceCases.All.Single(c => string.Equals(c.Id, id, StringComparison.Ordinal));
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        using RawWebSocket client = await RawWebSocket.ConnectAsync(server.Bind("ws://127.0.0.1:0"));
        uint peer = await server.NextConnectedAsync();
        byte[] bytes = [.. one.Bytes, .. RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Ping, "?"u8), .. RawWebSocket.CloseFrame(1000)];
        await SendInPiecesAsync(client, bytes, piece);
        var outcome = new StringBuilder();
        while (await client.ReadFrameAsync() is { } frame)
        {
            Assert.False(frame.IsMasked);
            outcome.Append(Describe(frame)).Append(' ');
        }

        client.Dispose();
        outcome.Append('/');
        while (true)
        {
            using StreamMessage message = await server.NextAsync();
            Assert.Equal(peer, message.PeerId);
            if (message.Kind == StreamMessageKind.Disconnected)
            {
                outcome.Append(' ').Append(message.Reason);
                break;
            }

            outcome.Append(CultureInfo.InvariantCulture, $" z{message.Span.Length}");
        }

        string? expected = Expectations.Value.GetValueOrDefault(id);
        Assert.True(string.Equals(expected, outcome.ToString(), StringComparison.Ordinal), $"{id}, {one.Title}: expected {expected}, came {outcome}");
    }

    private static async Task SendInPiecesAsync(RawWebSocket client, byte[] bytes, int piece)
    {
        // So many pieces that every border of a short case is cut; the rest of a long one in one.
        const int MostPieces = 50;
        int sent = 0;
        for (int i = 0; i < MostPieces && sent < bytes.Length; i++)
        {
            int length = Math.Min(piece, bytes.Length - sent);
            await client.Peer.SendAsync(bytes.AsMemory(sent, length));
            sent += length;
        }

        await client.Peer.SendAsync(bytes.AsMemory(sent));
    }

    private static string Describe(WebSocketFrame frame) => (frame.First & 0x7F) switch
    {
        _ when (frame.First & RawWebSocket.Fin) == 0 => "fragment",
        RawWebSocket.Pong when frame.Payload.AsSpan().SequenceEqual("?"u8) => "pong?",
        RawWebSocket.Pong when frame.Payload.Length < 4 => $"pong[{Convert.ToHexString(frame.Payload)}]",
        RawWebSocket.Pong when frame.Payload.AsSpan().SequenceEqual(Wire.Pattern(frame.Payload.Length)) => string.Create(CultureInfo.InvariantCulture, $"pong{frame.Payload.Length}"),
        RawWebSocket.Close => string.Create(CultureInfo.InvariantCulture, $"close{frame.Code}{(frame.Payload.Length > 2 ? "+" : "")}"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{frame.First:X2}"),
    };
}
