using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Xunit;

namespace Net.Zlink.Fuzzing;

/// <summary>The bytes of a ZMP connection. The first byte of an input chooses this side's type and the limit.</summary>
internal sealed class ZmpTarget : FuzzTarget
{
    private const long SmallLimit = 60;

    public override IEnumerable<byte[]> Seeds =>
    [
        .. from type in Enumerable.Range(0, ZmpFixture.Types.Length)
           from peer in ZmpFixture.Types
           where ZmpFixture.Types[type].IsCompatibleWith((byte)peer)
           select (byte[])[(byte)type, .. ZmpFixture.Greeting((byte)peer, "RAW1"u8), .. ZmpFixture.Frame(0, "message"u8)],
        [4, .. ZmpFixture.DealerGreeting("A"u8)[..^9],
            .. ZmpFixture.Control("04 0B536F636B65742D54797065 00000006 4445414C4552 084964656E74697479 00000002 4131"),
            .. ZmpFixture.Control("02 0005 01 63"), .. ZmpFixture.Control("03 01 63"), .. ZmpFixture.Control("02"),
            .. ZmpFixture.Frame(1, "p1"u8), .. ZmpFixture.Frame(0, "p2"u8), .. ZmpFixture.Frame(8, "k"u8), .. ZmpFixture.Frame(16, "k"u8),
            .. ZmpFixture.Frame(4, "id"u8), .. ZmpFixture.Control("05 01 0D 696E76616C6964206D61676963")],
    ];

    public override byte[][] Words =>
    [
        ZmpFixture.Hex("5A01000000000001"), ZmpFixture.Hex("5A010200"), ZmpFixture.Hex(ZmpFixture.Hello), ZmpFixture.Hex(ZmpFixture.Ready),
        ZmpFixture.Control("02 0000 01 63"), ZmpFixture.Control("0300"), ZmpFixture.Control("050500"), ZmpFixture.Frame(8, "k"u8),
    ];

    protected override void Try(byte[] input)
    {
        if (input.Length == 0)
        {
            return;
        }

        ZmpSocketType own = ZmpFixture.Types[(input[0] & 0x7F) % ZmpFixture.Types.Length];
        long limit = input[0] < 0x80 ? -1 : SmallLimit;
        byte[] bytes = input[1..];
        Assert.Equal(ZmpFixture.Play([bytes], own, limit), ZmpFixture.Play(Cut(bytes), own, limit));
        ReadOnlySpan<byte> frames = bytes;
        while (frames.Length >= ZmpFrame.HeaderSize && ZmpFrame.TryReadHeader(frames, out ZmpFlags flags, out uint length)
            && length <= frames.Length - ZmpFrame.HeaderSize)
        {
            int size = ZmpFrame.HeaderSize + (int)length;
            if (flags == ZmpFlags.Control)
            {
                WriteAgain(frames[..size], frames[ZmpFrame.HeaderSize..size], own);
            }

            frames = frames[size..];
        }
    }

    private static void WriteAgain(ReadOnlySpan<byte> frame, ReadOnlySpan<byte> body, ZmpSocketType own)
    {
        var written = new byte[Math.Max(frame.Length, ZmpErrorFrame.LargestFrame)];
        if (ZmpHello.FaultOf(body, own) is null)
        {
            Assert.Equal(frame, written.AsSpan(0, ZmpHello.Write(written, (ZmpSocketType)body[1], ZmpHello.RoutingIdOf(body))));
        }

        switch (body.IsEmpty ? 0 : body[0])
        {
            case ZmpControl.Heartbeat when body.Length > 1 && ZmpHeartbeat.FaultOf(body) is null:
                var heartbeat = new ZmpHeartbeat(body);
                ZmpHeartbeat.Write(written, heartbeat.TtlTenths);
                Assert.True(!heartbeat.Context.IsEmpty || frame.SequenceEqual(written.AsSpan(0, ZmpHeartbeat.FrameSize)));
                break;
            case ZmpControl.HeartbeatAck when ZmpHeartbeatAck.FaultOf(body) is null:
                Assert.Equal(frame, written.AsSpan(0, ZmpHeartbeatAck.Write(written, body[2..])));
                break;
            case ZmpControl.Ready when ZmpReady.IsWellFormed(body):
                int length = ZmpReady.PlainFrame;
                for (ZmpPropertyReader properties = ZmpReady.PropertiesOf(body); properties.MoveNext();)
                {
                    length += ZmpReady.WriteProperty(written.AsSpan(length), properties.Name, properties.Value);
                }

                Assert.Equal(body[1..], written.AsSpan(ZmpReady.PlainFrame, length - ZmpReady.PlainFrame));
                Assert.InRange(ZmpProperties.Of(body)?.Count ?? 0, 0, 256);
                break;
            case ZmpControl.Error when ZmpErrorFrame.FaultOf(body) is { Origin: ZmpFaultOrigin.Received } answer:
                ZmpFault error = ZmpErrorFrame.FaultOf(written.AsSpan(0, ZmpErrorFrame.Write(written, answer))[ZmpFrame.HeaderSize..]);
                Assert.Equal((answer.Code, answer.Text), (error.Code, error.Text));
                break;
            default:
                break;
        }
    }
}
