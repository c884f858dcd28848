using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>The cases of <see cref="Rfc6455Tests"/>, said by a server to whoever has connected to it. They come out the same, by the same
/// lines of Rfc6455.txt; all that is sent back has masks.</summary>
public sealed class Rfc6455ConnectingTests
{
    public static TheoryData<string> Ids() => [.. ConformanceCases.OfServer.Select(static c => c.Id)];

    [Theory]
    [MemberData(nameof(Ids))]
    public Task In_one_piece(string id) => ConformanceTable.PlayAsync(id, weConnect: true, piece: int.MaxValue);

    [Theory]
    [MemberData(nameof(Ids))]
    public Task In_pieces_of_seven_bytes(string id) => ConformanceTable.PlayAsync(id, weConnect: true, piece: 7);

    [Theory]
    [MemberData(nameof(Ids))]
    public Task Byte_by_byte(string id) => ConformanceTable.PlayAsync(id, weConnect: true, piece: 1);
}
