using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>
/// The WebSocket protocol by sections of RFC 6455, as the Autobahn suite goes through it, at a listener. A client says what a case is
/// about, a ping and CLOSE 1000; the line of the case in
/// Rfc6455.txt has what comes back and what the application sees.
/// </summary>
public sealed class Rfc6455Tests
{
    public static TheoryData<string> Ids() => [.. ConformanceCases.OfClient.Select(static c => c.Id)];

    [Fact]
    public void Every_case_has_one_expectation_and_every_expectation_its_case() =>
        Assert.Equal(
            ConformanceCases.OfClient.Concat(ConformanceCases.OfServer).Select(static c => c.Id).Distinct(StringComparer.Ordinal)
                .Order(StringComparer.Ordinal),
            ConformanceTable.Ids.Order(StringComparer.Ordinal),
            StringComparer.Ordinal);

    [Theory]
    [MemberData(nameof(Ids))]
    public Task In_one_piece(string id) => ConformanceTable.PlayAsync(id, weConnect: false, piece: int.MaxValue);

    [Theory]
    [MemberData(nameof(Ids))]
    public Task In_pieces_of_seven_bytes(string id) => ConformanceTable.PlayAsync(id, weConnect: false, piece: 7);
}
