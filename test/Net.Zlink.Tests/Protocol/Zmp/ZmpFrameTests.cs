using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Protocol.Zmp;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Protocol.Zmp;

public sealed class ZmpFrameTests
{
    private static readonly byte[] LegalFlags = [0x00, 0x01, 0x02, 0x04, 0x05, 0x08, 0x10];

    public static TheoryData<byte> EveryByte => [.. Enumerable.Range(0, 256).Select(static b => (byte)b)];

    [Theory]
    [InlineData(0x00, 0u, "5A01000000000000")]
    [InlineData(0x01, 2u, "5A01010000000002")]
    [InlineData(0x02, 0x0102_0304u, "5A01020001020304")]
    [InlineData(0x08, 0xFFFF_FFFFu, "5A010800FFFFFFFF")]
    public void A_header_is_magic_version_flags_zero_and_the_length(byte flags, uint length, string expected)
    {
        var written = new byte[8];
        ZmpFrame.WriteHeader(written, (ZmpFlags)flags, length);
        Assert.Equal(expected, Convert.ToHexString(written));
    }

    [Theory]
    [MemberData(nameof(EveryByte))]
    public void Only_seven_flag_bytes_are_legal(byte flags)
    {
        bool legal = LegalFlags.Contains(flags);
        byte[] header = [0x5A, 0x01, flags, 0x00, 0, 0, 0, 0];
        Assert.Equal(legal, ZmpFrame.TryReadHeader(header, out _, out _));
        Assert.Equal(ZmpFault.FlagsInvalid, ZmpFrame.FaultOf(header));
    }

    [Theory]
    [MemberData(nameof(EveryByte))]
    public void Magic_version_and_reserved_have_one_value_each_and_are_checked_in_this_order(byte value)
    {
        Check([value, 0x01, 0x00, 0x00, 0, 0, 0, 0], value == 0x5A ? null : ZmpFault.InvalidMagic);
        Check([0x5A, value, 0x00, 0x00, 0, 0, 0, 0], value == 0x01 ? null : ZmpFault.VersionMismatch);
        Check([0x5A, 0x01, 0x00, value, 0, 0, 0, 0], value == 0x00 ? null : ZmpFault.FlagsInvalid);
        Check([value, 0x02, 0xFF, 0x01, 0, 0, 0, 0], value == 0x5A ? ZmpFault.VersionMismatch : ZmpFault.InvalidMagic);
        Check([0x5A, value, 0xFF, 0x01, 0, 0, 0, 0], value == 0x01 ? ZmpFault.FlagsInvalid : ZmpFault.VersionMismatch);

        static void Check(byte[] header, ZmpFault? expected)
        {
            Assert.Equal(expected is null, ZmpFrame.TryReadHeader(header, out _, out _));
            Assert.Equal(expected ?? ZmpFault.FlagsInvalid, ZmpFrame.FaultOf(header));
        }
    }

    [Fact]
    public void A_written_header_is_read_back()
    {
        Gen<(byte Flags, uint Length)> headers =
            from flags in Gen.Elements(LegalFlags)
            from high in Gen.Choose(0, 0xFFFF)
            from low in Gen.Choose(0, 0xFFFF)
            select (flags, ((uint)high << 16) | (uint)low);
        ForAll(headers, 1_000, static h =>
        {
            var bytes = new byte[8];
            ZmpFrame.WriteHeader(bytes, (ZmpFlags)h.Flags, h.Length);
            Assert.True(ZmpFrame.TryReadHeader(bytes, out ZmpFlags flags, out uint length));
            Assert.Equal(h, ((byte)flags, length));
            Assert.Equal((ZmpFlags)h.Flags, (ZmpFlags)bytes[ZmpFrame.FlagsOffset]);
        });
    }

    [Theory]
    [InlineData(-1, true)]
    [InlineData(long.MinValue, true)]
    [InlineData(long.MaxValue, true)]
    [InlineData(0xFFFF_FFFF, true)]
    [InlineData(0, false)]
    [InlineData(17, false)]
    public void The_limit_of_an_option_is_itself_or_what_an_array_holds(long option, bool largest) =>
        Assert.Equal(largest ? Array.MaxLength - 8L : option, ZmpFrame.EffectiveLimit(option));
}
