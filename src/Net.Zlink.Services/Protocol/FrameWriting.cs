using System.Buffers.Binary;

namespace Net.Zlink.Services;

/// <summary>Numeric frames, little-endian.</summary>
internal static class FrameWriting
{
    public static MessageBuilder AddUInt16(this MessageBuilder message, ushort value)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(message.AddSpace(sizeof(ushort)), value);
        return message;
    }

    public static MessageBuilder AddUInt32(this MessageBuilder message, uint value)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(message.AddSpace(sizeof(uint)), value);
        return message;
    }

    public static MessageBuilder AddUInt64(this MessageBuilder message, ulong value)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(message.AddSpace(sizeof(ulong)), value);
        return message;
    }
}
