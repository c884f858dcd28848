using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Protocol.Zmp;

/// <summary>What a peer may do to the parsers: any bytes, cut anywhere.</summary>
public sealed class ZmpHostileBytesTests
{
    private const long Limit = 60;

    private static readonly Gen<byte> AnyByte = Gen.Choose(0, 255).Select(static b => (byte)b);

    private static readonly Gen<int[]> Cuts = Gen.Choose(1, 9).ArrayOf();

    // Mostly good frames, so that a conversation gets beyond its handshake; now and then one that is wrong.
    private static readonly Gen<byte[]> OneFrame = Gen.Frequency(
        (6, Framed(Gen.Elements<byte>(0x00, 0x01), AnyByte.ArrayOf())),
        (2, Framed(Gen.Elements<byte>(0x04, 0x05, 0x08, 0x10), AnyByte.ArrayOf())),
        (3, Gen.Elements("02000000", "0200000163", "02", "0300", "030163").Select(ZmpFixture.Control)),
        (1, Gen.Elements("", "04", "0200", "03", "0504", "050500", "06", "01050452415731").Select(ZmpFixture.Control)),
        (1, Framed(Gen.Constant((byte)0x02), AnyByte.ArrayOf())),
        (1, Framed(AnyByte, AnyByte.ArrayOf())),
        (1, AnyByte.ArrayOf()));

    private static readonly Gen<byte[]> Conversations =
        from opening in Gen.Frequency(
            (8, Gen.Constant(ZmpFixture.Hex(ZmpFixture.Hello + ZmpFixture.Ready))),
            (2, Gen.Constant(ZmpFixture.Hex(ZmpFixture.Hello))),
            (1, AnyByte.ArrayOf()))
        from frames in OneFrame.ArrayOf()
        select (byte[])[.. opening, .. frames.SelectMany(static f => f)];

    [Fact]
    public void Any_bytes_in_any_segmentation_give_the_same_frames_and_the_same_fault()
    {
        Gen<(byte[] Bytes, int[] Cuts)> cases =
            from bytes in Conversations
            from cuts in Cuts
            select (bytes, cuts);
        ForAll(cases, 1_000, static c =>
        {
            string whole = ZmpFixture.Play([c.Bytes], ZmpSocketType.Dealer, Limit);
            Assert.Equal(whole, ZmpFixture.Play(ZmpFixture.Cut(c.Bytes, c.Cuts), ZmpSocketType.Dealer, Limit));
            Assert.Equal(whole, ZmpFixture.Play(ZmpFixture.Cut(c.Bytes, [1]), ZmpSocketType.Dealer, Limit));
        });
    }

    [Fact]
    public void A_cut_conversation_parses_as_the_start_of_the_whole_one()
    {
        Gen<(byte[] Bytes, int Kept)> cases =
            from bytes in Conversations
            from kept in Gen.Choose(0, bytes.Length)
            select (bytes, kept);
        ForAll(cases, 1_000, static c =>
            Assert.StartsWith(
                ZmpFixture.Play([c.Bytes[..c.Kept]], ZmpSocketType.Dealer, Limit), ZmpFixture.Play([c.Bytes], ZmpSocketType.Dealer, Limit),
                    StringComparison.Ordinal));
    }

    [Fact]
    public void Any_bytes_as_the_body_of_a_control_frame_are_taken_or_refused_and_never_throw() =>
        ForAllArrays(AnyByte, 2_000, static body =>
        {
            foreach (ZmpSocketType own in ZmpFixture.Types)
            {
                ZmpFault? refused = ZmpHello.FaultOf(body, own);
                if (body.Length is >= ZmpHello.SmallestBody and <= ZmpHello.LargestBody)
                {
                    var inbound = new ZmpInbound(own, maxMessageSize: -1);
                    Assert.Equal(refused is null ? ZmpInboundKind.HelloAccepted : ZmpInboundKind.Fault,
                        inbound.Next(ZmpFixture.Frame(2, body), out _, out _));
                    Assert.Equal(refused ?? default, inbound.Fault);
                }
            }

            for (byte control = 1; control <= 6; control++)
            {
                byte[] typed = [control, .. body];
                var inbound = new ZmpInbound(ZmpSocketType.Dealer, maxMessageSize: -1);
                inbound.Next(ZmpFixture.Control("010500"), out _, out _);
                ZmpInboundKind kind = inbound.Next(ZmpFixture.Frame(2, typed), out _, out _);
                Assert.Equal(kind == ZmpInboundKind.Fault, inbound.Fault != default);
                if (kind == ZmpInboundKind.ReadyAccepted)
                {
                    Assert.Equal(body.Length == 0, ZmpProperties.Of(typed) is null);
                }
            }
        });

    [Fact]
    public void Reading_and_answering_allocates_nothing()
    {
        byte[] bytes = ZmpFixture.Hex(
            ZmpFixture.Hello + ZmpFixture.Ready + "5A01020000000005 02 0000 01 63" + "5A01010000000002 7031" + "5A01000000000001 78"
                + "5A01080000000001 6B" + "5A01020000000002 03 00");
        var answer = new byte[ZmpReady.LargestFrame];
        int rounds = 0;
        int data = 0;
        long allocated = Allocations.Of(() =>
        {
            rounds++;
            data += Converse(bytes, answer);
        });
        Assert.Equal(0, allocated);
        Assert.Equal(2 * rounds, data);
    }

    private static int Converse(byte[] bytes, byte[] answer)
    {
        var inbound = new ZmpInbound(ZmpSocketType.Router, maxMessageSize: -1);
        ZmpHello.Write(answer, ZmpSocketType.Router, "B1"u8);
        ZmpReady.WriteWithMetadata(answer, ZmpSocketType.Router, "B1"u8);
        ReadOnlySpan<byte> frames = bytes;
        int data = 0;
        while (!frames.IsEmpty)
        {
            switch (inbound.Next(frames, out _, out int size))
            {
                case ZmpInboundKind.Data:
                    data++;
                    break;
                case ZmpInboundKind.Heartbeat:
                    ZmpHeartbeatAck.Write(answer, new ZmpHeartbeat(frames[ZmpFrame.HeaderSize..size]).Context);
                    break;
            }

            frames = frames[size..];
        }

        return data;
    }

    private static Gen<byte[]> Framed(Gen<byte> flags, Gen<byte[]> body) =>
        from f in flags
        from b in body
        select ZmpFixture.Frame(f, b);
}
