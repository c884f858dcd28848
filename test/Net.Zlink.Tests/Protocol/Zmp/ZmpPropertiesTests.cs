using System.Globalization;
using System.Text;
using Net.Zlink.Protocol.Zmp;
using Xunit;

namespace Net.Zlink.Tests.Protocol.Zmp;

public sealed class ZmpPropertiesTests
{
    [Fact]
    public void Handshake_properties_of_a_peer_are_found_by_name()
    {
        ZmpProperties properties = Of(("Socket-Type", "DEALER"), ("Identity", "A1"), ("", "nameless"))!;
        Assert.Equal(3, properties.Count);
        Assert.Equal("DEALER", TextOf(properties, "Socket-Type"));
        Assert.Equal("A1", TextOf(properties, ZmpProperties.IdentityKey));
        Assert.Equal("nameless", TextOf(properties, ""));
        Assert.Null(TextOf(properties, "socket-type"));
        Assert.Null(TextOf(properties, ZmpProperties.PeerAddressKey));
    }

    [Fact]
    public void Of_a_repeated_name_the_last_value_counts() => Assert.Equal("3", TextOf(Of(("x", "1"), ("y", "2"), ("x", "3"))!, "x"));

    [Fact]
    public void Properties_that_this_side_knows_override_those_that_a_peer_sends()
    {
        ZmpProperties properties = ZmpProperties.Of(
            Body(("Peer-Address", "forged"), ("x", "1")), KeyValuePair.Create(ZmpProperties.PeerAddressKey, "127.0.0.1"),
                KeyValuePair.Create(ZmpProperties.FileDescriptorKey, "7"))!;
        Assert.Equal("127.0.0.1", TextOf(properties, "Peer-Address"));
        Assert.Equal("7", TextOf(properties, "__fd"));
        Assert.Equal("1", TextOf(properties, "x"));
    }

    [Fact]
    public void Properties_that_only_this_side_can_know_are_ignored_from_a_peer()
    {
        ZmpProperties properties = Of(("Peer-Address", "forged"), ("__fd", "1"), ("x", "1"))!;
        Assert.Equal((1, "1"), (properties.Count, TextOf(properties, "x")));
        Assert.Null(Of(("Peer-Address", "forged"), ("__fd", "1")));
    }

    [Fact]
    public void A_missing_Identity_is_answered_by_Routing_Id()
    {
        Assert.Equal("R", TextOf(Of(("Routing-Id", "R"))!, "Identity"));
        Assert.Equal("I", TextOf(Of(("Routing-Id", "R"), ("Identity", "I"))!, "Identity"));
        Assert.Null(TextOf(Of(("Identity", "I"))!, "Routing-Id"));
    }

    [Fact]
    public void Without_any_property_there_is_no_set() => Assert.Null(ZmpProperties.Of([4]));

    [Fact]
    public void A_value_may_be_any_bytes()
    {
        ZmpProperties properties = ZmpProperties.Of(ZmpFixture.Hex("04 0141 00000003 00FF80"))!;
        Assert.True(properties.TryGetValue("A", out ReadOnlyMemory<byte> value));
        Assert.Equal([0x00, 0xFF, 0x80], value.ToArray());
    }

    [Fact]
    public void A_set_does_not_change_with_the_bytes_it_was_made_of()
    {
        byte[] body = Body(("x", "1"));
        ZmpProperties properties = ZmpProperties.Of(body)!;
        body.AsSpan().Clear();
        Assert.Equal("1", TextOf(properties, "x"));
    }

    [Fact]
    public void A_hostile_READY_is_not_kept_beyond_256_properties_and_16_KiB()
    {
        Assert.Equal(256, Of([.. Enumerable.Range(0, 1_000).Select(static i => (i.ToString(CultureInfo.InvariantCulture), ""))])!.Count);
        ZmpProperties large = Of(("a", new string('x', 16_000)), ("b", new string('y', 16_000)), ("c", "z"))!;
        Assert.Equal((1, 16_000), (large.Count, TextOf(large, "a")!.Length));
    }

    private static ZmpProperties? Of(params (string Name, string Value)[] properties) => ZmpProperties.Of(Body(properties));

    private static byte[] Body(params (string Name, string Value)[] properties)
    {
        List<byte> body = [4];
        foreach ((string name, string value) in properties)
        {
            var one = new byte[5 + name.Length + value.Length];
            ZmpReady.WriteProperty(one, Encoding.ASCII.GetBytes(name), Encoding.ASCII.GetBytes(value));
            body.AddRange(one);
        }

        return [.. body];
    }

    private static string? TextOf(ZmpProperties properties, string name) => properties.TryGetText(name, out string? text) ? text : null;
}
