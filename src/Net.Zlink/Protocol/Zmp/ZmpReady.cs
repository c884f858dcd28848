using System.Buffers.Binary;
using System.Text;

namespace Net.Zlink.Protocol.Zmp;

internal static class ZmpReady
{
    public const int PlainFrame = ZmpFrame.HeaderSize + 1;

    public const int LargestFrame = PlainFrame + PropertyOverhead + 11 + 6 + PropertyOverhead + 8 + ZmpHello.LargestRoutingId;

    private const int PropertyOverhead = 1 + sizeof(uint);

    public static int Write(Span<byte> destination)
    {
        ZmpFrame.WriteHeader(destination, ZmpFlags.Control, 1);
        destination[ZmpFrame.HeaderSize] = ZmpControl.Ready;
        return PlainFrame;
    }

    public static int WriteWithMetadata(Span<byte> destination, ZmpSocketType type, ReadOnlySpan<byte> routingId)
    {
        Span<byte> name = stackalloc byte[8];
        int nameLength = Encoding.ASCII.GetBytes(type.Name, name);
        int length = PlainFrame;
        length += WriteProperty(destination[length..], "Socket-Type"u8, name[..nameLength]);
        if (type.AnnouncesIdentity)
        {
            length += WriteProperty(destination[length..], "Identity"u8, routingId);
        }

        ZmpFrame.WriteHeader(destination, ZmpFlags.Control, (uint)(length - ZmpFrame.HeaderSize));
        destination[ZmpFrame.HeaderSize] = ZmpControl.Ready;
        return length;
    }

    public static ZmpPropertyReader PropertiesOf(ReadOnlySpan<byte> body) => new(body[1..]);

    public static bool IsWellFormed(ReadOnlySpan<byte> body)
    {
        ZmpPropertyReader properties = PropertiesOf(body);
        while (properties.MoveNext())
        {
        }

        return !properties.IsMalformed;
    }

    internal static int WriteProperty(Span<byte> destination, ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        destination[0] = checked((byte)name.Length);
        name.CopyTo(destination[1..]);
        BinaryPrimitives.WriteUInt32BigEndian(destination[(1 + name.Length)..], (uint)value.Length);
        value.CopyTo(destination[(PropertyOverhead + name.Length)..]);
        return PropertyOverhead + name.Length + value.Length;
    }
}
