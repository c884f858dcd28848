using System.Globalization;
using System.Text;
using Net.Zlink.Protocol.Zmp;
using Xunit;

namespace Net.Zlink.Tests.Protocol.Zmp;

/// <summary>What the tests of ZMP share.</summary>
internal static class ZmpFixture
{
    /// <summary>A DEALER with the routing id RAW1, as the recorded raw peers say it.</summary>
    public const string Hello = "5A01020000000007 01050452415731";

    public const string Ready = "5A01020000000001 04";

    /// <summary>The types that speak ZMP.</summary>
    public static readonly ZmpSocketType[] Types = Enum.GetValues<ZmpSocketType>();

    public static byte[] Hex(string text) => Convert.FromHexString(text.Replace(" ", "", StringComparison.Ordinal));

    public static byte[] Frame(byte flags, ReadOnlySpan<byte> body)
    {
        var frame = new byte[ZmpFrame.HeaderSize + body.Length];
        ZmpFrame.WriteHeader(frame, (ZmpFlags)flags, (uint)body.Length);
        body.CopyTo(frame.AsSpan(ZmpFrame.HeaderSize));
        return frame;
    }

    /// <summary>HELLO and READY of a peer.</summary>
    public static byte[] Greeting(byte type, ReadOnlySpan<byte> routingId = default) =>
        [.. Frame(2, [1, type, (byte)routingId.Length, .. routingId]), .. Frame(2, [4])];

    public static byte[] DealerGreeting(ReadOnlySpan<byte> routingId) => Greeting((byte)ZmpSocketType.Dealer, routingId);

    public static byte[] Control(string body) => Frame(2, Hex(body));

    /// <summary>What a written frame looks like, of a buffer that was larger.</summary>
    public static string Written(ReadOnlySpan<byte> buffer, int length) => Convert.ToHexString(buffer[..length]);

    /// <summary>The same frame in hex, however it was spaced.</summary>
    public static string Plain(string hex) => Convert.ToHexString(Hex(hex));

    public static string Text(ZmpFault fault) => string.Create(CultureInfo.InvariantCulture, $"{(byte)fault.Code:X2} {fault.Text}");

    public static IEnumerable<byte[]> Cut(byte[] bytes, int[] lengths)
    {
        int at = 0;
        for (int i = 0; at < bytes.Length; i++)
        {
            int length = lengths.Length == 0 ? bytes.Length : Math.Min(lengths[i % lengths.Length], bytes.Length - at);
            yield return bytes[at..(at + length)];
            at += length;
        }
    }

    /// <summary>
    /// Reads as a connection does: parses each piece behind the rest of the one before, and stops at the first fault. Says what the frames
    /// were, one word each, and at last the fault; checks on the way that what is said of an incomplete frame fits its bytes.
    /// </summary>
    public static string Play(IEnumerable<byte[]> pieces, ZmpSocketType own, long limit)
    {
        var inbound = new ZmpInbound(own, limit);
        var said = new StringBuilder();
        byte[] rest = [];
        foreach (byte[] piece in pieces)
        {
            rest = [.. rest, .. piece];
            ZmpInboundKind kind = inbound.Next(rest, out ZmpFlags flags, out int size);
            for (; kind is not (ZmpInboundKind.Incomplete or ZmpInboundKind.Fault); kind = inbound.Next(rest, out flags, out size))
            {
                Assert.InRange(size, ZmpFrame.HeaderSize, rest.Length);
                string body = Convert.ToHexString(rest.AsSpan(ZmpFrame.HeaderSize, size - ZmpFrame.HeaderSize));
                said.Append(kind).Append(':').Append(flags).Append(':').Append(body).Append(' ');
                rest = rest[size..];
            }

            if (kind == ZmpInboundKind.Fault)
            {
                return said.Append("! ").Append(Text(inbound.Fault)).Append(' ').Append(inbound.Fault.Origin).ToString();
            }

            if (rest.Length < ZmpFrame.HeaderSize)
            {
                Assert.Equal(0, size);
            }
            else
            {
                long largest = Math.Max(ZmpFrame.EffectiveLimit(limit), ZmpHello.LargestBody);
                Assert.InRange(size, rest.Length + 1, ZmpFrame.HeaderSize + largest);
            }
        }

        return said.ToString();
    }

    /// <summary>Takes the first of whole frames, and returns its body.</summary>
    public static ReadOnlySpan<byte> Next(ref ReadOnlySpan<byte> frames, out ZmpFlags flags)
    {
        flags = (ZmpFlags)frames[ZmpFrame.FlagsOffset];
        int end = ZmpFrame.HeaderSize + ZmpFrame.ReadLength(frames);
        ReadOnlySpan<byte> body = frames[ZmpFrame.HeaderSize..end];
        frames = frames[end..];
        return body;
    }
}
