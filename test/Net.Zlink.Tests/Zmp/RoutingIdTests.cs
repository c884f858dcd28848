using System.ComponentModel;
using System.Globalization;
using System.Text.Json;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>The name of a peer as a value.</summary>
public sealed class RoutingIdTests
{
    [Theory]
    [InlineData("", "")]
    [InlineData("server-1", "server-1")]
    [InlineData("0xfe", "0x30786665")] // The text of an id that looks like hexadecimal digits must not be read back as another id.
    [InlineData("two words", "0x74776f20776f726473")]
    [InlineData("\u00e4", "0xc3a4")]
    public void The_text_of_an_id_is_ascii_or_hexadecimal_digits(string text, string expected) =>
        Assert.Equal(expected, RoutingId.FromText(text).ToString());

    [Fact]
    public void Every_id_is_read_back_from_its_text() =>
        Prop.ForAll(Bytes, static bytes => RoutingId.Parse(new RoutingId(bytes).ToString(), CultureInfo.InvariantCulture)
            == new RoutingId(bytes)).QuickCheckThrowOnFailure();

    [Fact]
    public void Every_id_survives_json_as_a_value_and_as_a_key() => Prop.ForAll(Bytes, static bytes =>
    {
        RoutingId id = bytes;
        Dictionary<RoutingId, RoutingId> map = JsonSerializer.Deserialize<Dictionary<RoutingId,
            RoutingId>>(JsonSerializer.Serialize(new Dictionary<RoutingId, RoutingId> { [id] = id }))!;
        return map.Count == 1 && map[id] == id;
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void Equal_bytes_are_equal_ids_wherever_they_lie() => Prop.ForAll(Bytes, Bytes, static (left, right) =>
    {
        RoutingId one = left;
        RoutingId other = right;
        RoutingId copy = one.Copy();
        return one == copy && one.GetHashCode() == copy.GetHashCode() && one.Equals((object)copy)
            && (one == other) == left.AsSpan().SequenceEqual(right) && (one != other) == !one.Equals(other);
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_copy_does_not_change_with_the_bytes_that_it_was_made_of()
    {
        byte[] bytes = [1, 2];
        RoutingId id = bytes;
        RoutingId copy = id.Copy();
        bytes[0] = 9;
        Assert.Equal([9, 2], id.ToArray());
        Assert.Equal([1, 2], copy.ToArray());
        Assert.Equal((2, false, true), (id.Length, id.IsEmpty, default(RoutingId).IsEmpty));
    }

    [Theory]
    [InlineData("0xf")]
    [InlineData("0xfg")]
    [InlineData("256")]
    public void A_text_that_is_no_id_is_refused_with_what_to_write(string text)
    {
        string written = int.TryParse(text, CultureInfo.InvariantCulture, out int length) ? new string('x', length) : text;
        Assert.Contains("0x and pairs of hexadecimal digits",
            Assert.Throws<FormatException>(() => RoutingId.Parse(written, provider: null)).Message, StringComparison.Ordinal);
        Assert.Throws<JsonException>(() => JsonSerializer.Deserialize<RoutingId>(JsonSerializer.Serialize(written)));
        Assert.False(RoutingId.TryParse(null, provider: null, out _));
    }

    [Fact]
    public void More_than_255_bytes_are_refused()
    {
        Assert.Equal(RoutingId.MaxLength, new RoutingId(new byte[RoutingId.MaxLength]).Length);
        Assert.Throws<ArgumentException>(() => new RoutingId(new byte[RoutingId.MaxLength + 1]));
        Assert.Throws<ArgumentException>(() => RoutingId.FromText(new string('x', RoutingId.MaxLength + 1)));
    }

    [Fact]
    public void A_type_converter_reads_an_id_from_a_text()
    {
        TypeConverter converter = TypeDescriptor.GetConverter(typeof(RoutingId));
        Assert.Equal((true, false), (converter.CanConvertFrom(typeof(string)), converter.CanConvertFrom(typeof(int))));
        Assert.Equal(RoutingId.FromText("server-1"), converter.ConvertFromInvariantString("server-1"));
    }

    [Fact]
    public async Task Peers_and_events_show_all_figures_and_the_routing_id_in_json()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        EventReader monitor = router.ReadEvents();
        using DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = RoutingId.FromText("worker-7") });
        dealer.Connect(router.Bind("tcp://127.0.0.1:0"));
        dealer.Send("hello"u8);
        await fixture.UntilAsync(() => router.GetPeers() is [{ Unread.Messages: 1 }]);
        using JsonDocument peers = JsonDocument.Parse(JsonSerializer.Serialize(router.GetPeers()));
        JsonElement peer = Assert.Single(peers.RootElement.EnumerateArray());
        Assert.Equal("worker-7", peer.GetProperty("RoutingId").GetString());
        Assert.Equal((1, 13), (peer.GetProperty("Unread").GetProperty(nameof(QueueDepth.Messages)).GetInt64(),
            peer.GetProperty("Unread").GetProperty(nameof(QueueDepth.Bytes)).GetInt64()));
        Assert.Equal((0, 0), (peer.GetProperty("Outbound").GetProperty(nameof(QueueDepth.Messages)).GetInt64(),
            peer.GetProperty("Outbound").GetProperty(nameof(QueueDepth.Bytes)).GetInt64()));
        Assert.StartsWith("worker-7 ", router.GetPeers()[0].ToString(), StringComparison.Ordinal);
        SocketEvent ready = await monitor.NextAsync(SocketEventTypes.ConnectionReady);
        Assert.Contains("\"PeerRoutingId\":\"worker-7\"", JsonSerializer.Serialize(ready), StringComparison.Ordinal);
    }

    private static Arbitrary<byte[]> Bytes =>
        ArbMap.Default.GeneratorFor<byte[]>().Where(static bytes => bytes.Length <= RoutingId.MaxLength).ToArbitrary();
}
