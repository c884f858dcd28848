using System.Buffers.Binary;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Load;

/// <summary>What a message looks like: when it was sent, whose it is, which it is, filling, and a last byte that depends on which it
/// is.</summary>
internal sealed class MessageTemplate
{
    /// <summary>A timestamp (8), a connection (4), a sequence number (8) and the last byte.</summary>
    public const int SmallestPayload = LastAt + 1;

    private const int ConnectionAt = 8;
    private const int SequenceAt = 12;
    private const int LastAt = 20;

    private readonly byte[] _frame;

    public MessageTemplate(int size)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(size, SmallestPayload);
        _frame = new byte[Frames.HeaderSize + size];
        BinaryPrimitives.WriteInt32BigEndian(_frame, size);
        for (int i = Frames.HeaderSize + LastAt; i < _frame.Length; i++)
        {
            // Not constant, so that a shifted payload does not look right.
            _frame[i] = (byte)((i * 31) + 7);
        }
    }

    public int PayloadLength => _frame.Length - Frames.HeaderSize;

    public int FrameLength => _frame.Length;

    /// <summary>Room for so many messages, filled but for what differs.</summary>
    public byte[] MakeBatch(int messages)
    {
        byte[] batch = new byte[messages * _frame.Length];
        for (int i = 0; i < messages; i++)
        {
            _frame.CopyTo(batch, i * _frame.Length);
        }

        return batch;
    }

    /// <summary>Writes what differs into one message of a batch.</summary>
    public void Stamp(Span<byte> frame, long timestamp, uint connection, long sequence)
    {
        Span<byte> payload = frame[Frames.HeaderSize..];
        BinaryPrimitives.WriteInt64LittleEndian(payload, timestamp);
        BinaryPrimitives.WriteUInt32LittleEndian(payload[ConnectionAt..], connection);
        BinaryPrimitives.WriteInt64LittleEndian(payload[SequenceAt..], sequence);
        payload[PayloadLength - 1] = LastByte(sequence);
    }

    public static (long Timestamp, uint Connection, long Sequence) Read(ReadOnlySpan<byte> payload) => (
        BinaryPrimitives.ReadInt64LittleEndian(payload),
        BinaryPrimitives.ReadUInt32LittleEndian(payload[ConnectionAt..]),
        BinaryPrimitives.ReadInt64LittleEndian(payload[SequenceAt..]));

    /// <summary>Whether the last byte belongs to the sequence number: a quick look, for every reply.</summary>
    public static bool EndsRight(ReadOnlySpan<byte> payload, long sequence) => payload[^1] == LastByte(sequence);

    /// <summary>Whether all of the filling is there: for some replies.</summary>
    public bool IsFilledRight(ReadOnlySpan<byte> payload) =>
        payload[LastAt..^1].SequenceEqual(_frame.AsSpan(Frames.HeaderSize + LastAt, payload.Length - LastAt - 1));

    private static byte LastByte(long sequence) => (byte)((sequence * 31) + 7);
}
