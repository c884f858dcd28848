using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Protocol.Zmp;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Protocol.Zmp;

public sealed class ZmpReadyTests
{
    [Fact]
    public void A_READY_is_one_byte_by_default()
    {
        var buffer = new byte[ZmpReady.PlainFrame];
        Assert.Equal(ZmpFixture.Plain(ZmpFixture.Ready), ZmpFixture.Written(buffer, ZmpReady.Write(buffer)));
    }

    [Theory]
    [InlineData(5, "4131", "5A01020000000026 04 0B536F636B65742D54797065 00000006 4445414C4552 084964656E74697479 00000002 4131")]
    [InlineData(6, "4231", "5A01020000000026 04 0B536F636B65742D54797065 00000006 524F55544552 084964656E74697479 00000002 4231")]
    [InlineData(1, "4131", "5A01020000000014 04 0B536F636B65742D54797065 00000003 505542")]
    [InlineData(0, "4131", "5A01020000000015 04 0B536F636B65742D54797065 00000004 50414952")]
    public void Metadata_says_the_type_and_for_DEALER_and_ROUTER_the_routing_id(byte type, string routingId, string expected)
    {
        var buffer = new byte[ZmpReady.LargestFrame];
        int length = ZmpReady.WriteWithMetadata(buffer, (ZmpSocketType)type, ZmpFixture.Hex(routingId));
        Assert.Equal(ZmpFixture.Plain(expected), ZmpFixture.Written(buffer, length));
    }

    [Fact]
    public void The_longest_metadata_fills_the_room_that_is_asked_for()
    {
        var buffer = new byte[ZmpReady.LargestFrame];
        Assert.Equal(ZmpReady.LargestFrame, ZmpFixture.Types.Max(type => ZmpReady.WriteWithMetadata(buffer, type, new byte[255])));
    }

    [Theory]
    [InlineData("04", true)]
    [InlineData("04 00 00000000", true)]
    [InlineData("04 0141 00000001 62", true)]
    [InlineData("04 00 00000001 62", true)]
    [InlineData("04 0B536F636B65742D54797065 00000003 505542", true)]
    [InlineData("04 0141 00000001 62 0141 00000000", true)]
    [InlineData("04 00", false)]
    [InlineData("04 01", false)]
    [InlineData("04 0B536F63", false)]
    [InlineData("04 0141", false)]
    [InlineData("04 0141 0000", false)]
    [InlineData("04 0141 000000", false)]
    [InlineData("04 0141 00000005 7879", false)]
    [InlineData("04 0141 FFFFFFFF 7879", false)]
    [InlineData("04 0141 80000000 7879", false)]
    [InlineData("04 0141 00000001 62 01", false)]
    [InlineData("04 0141 00000001 6200", false)]
    public void Metadata_must_end_exactly_on_a_property(string body, bool wellFormed) =>
        Assert.Equal(wellFormed, ZmpReady.IsWellFormed(ZmpFixture.Hex(body)));

    [Fact]
    public void Written_properties_are_read_back_and_no_cut_within_one_goes_unnoticed()
    {
        Gen<(byte[] Name, byte[] Value)[]> properties =
            (from name in Gen.Choose(0, 255).Select(static b => (byte)b).ArrayOf()
             from value in Gen.Choose(0, 255).Select(static b => (byte)b).ArrayOf()
             select (name, value)).ArrayOf();
        ForAll(properties, 200, static written =>
        {
            List<byte> body = [4];
            HashSet<int> ends = [1];
            foreach ((byte[] name, byte[] value) in written)
            {
                var one = new byte[5 + name.Length + value.Length];
                Assert.Equal(one.Length, ZmpReady.WriteProperty(one, name, value));
                body.AddRange(one);
                ends.Add(body.Count);
            }

            byte[] bytes = [.. body];
            List<(byte[] Name, byte[] Value)> read = [];
            ZmpPropertyReader reader = ZmpReady.PropertiesOf(bytes);
            while (reader.MoveNext())
            {
                read.Add((reader.Name.ToArray(), reader.Value.ToArray()));
            }

            Assert.False(reader.IsMalformed);
            Assert.Equal(written.Select(Text), read.Select(Text), StringComparer.Ordinal);
            for (int length = 1; length <= Math.Min(bytes.Length, 200); length++)
            {
                Assert.Equal(ends.Contains(length), ZmpReady.IsWellFormed(bytes.AsSpan(0, length)));
            }
        });

        static string Text((byte[] Name, byte[] Value) p) => $"{Convert.ToHexString(p.Name)}={Convert.ToHexString(p.Value)}";
    }
}
