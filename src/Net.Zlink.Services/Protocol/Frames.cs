using System.Buffers.Binary;

namespace Net.Zlink.Services;

/// <summary>The frames of one service message, wherever they lie. It owns nothing: a received message has to outlive it.</summary>
internal readonly struct Frames
{
    private readonly Message _message;
    private readonly byte[][]? _arrays;

    public Frames(in Message message)
    {
        _message = message;
        Count = message.PartCount;
    }

    public Frames(byte[][] arrays)
    {
        _arrays = arrays;
        Count = arrays.Length;
    }

    public int Count { get; }

    public ReadOnlySpan<byte> this[int index] => _arrays is not null ? _arrays[index] : _message[index].Span;

    /// <summary>A numeric frame is well formed only with its exact size.</summary>
    public bool TryReadUInt16(int index, out ushort value)
    {
        value = 0;
        return index < Count && this[index] is { Length: 2 } frame && BinaryPrimitives.TryReadUInt16LittleEndian(frame, out value);
    }

    public bool TryReadUInt32(int index, out uint value)
    {
        value = 0;
        return index < Count && this[index] is { Length: 4 } frame && BinaryPrimitives.TryReadUInt32LittleEndian(frame, out value);
    }

    public bool TryReadUInt64(int index, out ulong value)
    {
        value = 0;
        return index < Count && this[index] is { Length: 8 } frame && BinaryPrimitives.TryReadUInt64LittleEndian(frame, out value);
    }

    /// <summary>A weight: 1 where the frame is missing, malformed, or says 0.</summary>
    public uint ReadWeight(int index) => TryReadUInt32(index, out uint weight) && weight != 0 ? weight : 1;
}

/// <summary>Frames of numbers, little-endian, and copies of frames.</summary>
internal static class FrameWriting
{
    public static MessageBuilder AddParts(this MessageBuilder message, MessageBuilder parts)
    {
        for (int i = 0; i < parts.Count; i++)
        {
            message.Add(parts[i]);
        }

        return message;
    }

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
