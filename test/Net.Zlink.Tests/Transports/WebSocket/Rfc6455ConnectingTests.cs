using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>The cases of <see cref="Rfc6455Tests"/>, said by a server to whoever has connected to it. They come out the same, by the same lines of Rfc6455.txt; all that is sent back has masks.</summary>
public sealed class Rfc6455ConnectingTests
{
    public static TheoryData<string> Ids() => [.. ConformanceCases.OfServer.Select(static c => c.Id)];

    [Theory]
    [MemberData(nameof(Ids))]
    public Task In_one_piece(string id) => PlayAsync(id, piece: int.MaxValue);

    [Theory]
    [MemberData(nameof(Ids))]
    public Task In_pieces_of_seven_bytes(string id) => PlayAsync(id, piece: 7);

    [Theory]
    [MemberData(nameof(Ids))]
    public Task Byte_by_byte(string id) => PlayAsync(id, piece: 1);

    private static async Task PlayAsync(string id, int piece)
    {
        ConformanceCase one = ConformanceCases.OfServer.Single(c => string.Equals(c.Id, id, StringComparison.Ordinal));
        await using var fixture = new StreamFixture();
        (StreamSocket client, RawWebSocket server, uint peer) = await RawWebSocket.PairAsync(fixture, weConnect: true);
        server.Peer.Socket.NoDelay = true; // Pieces stay pieces.
        await ConformanceTable.PlayAsync(one, client, server, peer, weConnect: true, piece);
    }
}
