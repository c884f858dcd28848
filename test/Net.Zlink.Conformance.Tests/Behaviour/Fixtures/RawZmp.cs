using System.Buffers.Binary;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Behaviour.Fixtures;

/// <summary>The ZMP wire written down a second time, independent of the library: 5A 01 flags 00, the length in 4 bytes, big endian, then
/// the body.</summary>
internal static class RawZmp
{
    public const byte Control = 0x02;
    public const byte Subscribe = 0x08;
    public const byte Pair = 0;
    public const byte Sub = 2;
    public const byte Dealer = 5;

    // The first byte of a control frame's body.
    public const byte Ready = 0x04;
    public const byte Error = 0x05;

    private const int HeaderSize = 8;

    public static byte[] Frame(byte flags, params byte[] body)
    {
        byte[] frame = new byte[HeaderSize + body.Length];
        frame[0] = 0x5A;
        frame[1] = 0x01;
        frame[2] = flags;
        BinaryPrimitives.WriteUInt32BigEndian(frame.AsSpan(4), (uint)body.Length);
        body.CopyTo(frame, HeaderSize);
        return frame;
    }

    public static byte[] Hello(byte type, string id) => Frame(Control, [0x01, type, (byte)id.Length, .. SocketWords.Bytes(id)]);

    /// <summary>HELLO and READY.</summary>
    public static byte[] Greeting(byte type, string id) => [.. Hello(type, id), .. Frame(Control, Ready)];

    public static byte[] Heartbeat(ushort ttlTenths) => Frame(Control, 0x02, (byte)(ttlTenths >> 8), (byte)ttlTenths, 0);

    /// <summary>The next frame, or null at the end of the stream.</summary>
    public static async Task<(byte Flags, byte[] Body)?> ReadZmpAsync(this RawPeer peer)
    {
        byte[] header = await peer.ReadAsync(HeaderSize);
        return header.Length < HeaderSize ? null : (
            header[2], await peer.ReadAsync((int)BinaryPrimitives.ReadUInt32BigEndian(header.AsSpan(4))));
    }

    /// <summary>Reads frames up to the first control frame of a kind.</summary>
    public static async Task<byte[]> ReadControlAsync(this RawPeer peer, byte kind)
    {
        while (await peer.ReadZmpAsync() is { } frame)
        {
            if (frame.Flags == Control && frame.Body[0] == kind)
            {
                return frame.Body;
            }
        }

        throw new InvalidOperationException("the stream ended before the frame that the test waits for");
    }
}
