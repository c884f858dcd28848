using System.Buffers.Binary;
using System.Diagnostics;

namespace Samples.GameRooms;

/// <summary>What a bot says: who it is, which of its messages this is, where it is, and when that was.</summary>
internal readonly record struct Position(int Bot, int Number, float X, float Y, long SentAt)
{
    public const int Size = 24;

    /// <summary>How old it is. The processes are on one machine, whose monotonic clock they share.</summary>
    public TimeSpan Age => Stopwatch.GetElapsedTime(SentAt);

    public static Position Now(int bot, int number, float x, float y) => new(bot, number, x, y, Stopwatch.GetTimestamp());

    public static Position Read(ReadOnlySpan<byte> from) => new(
        BinaryPrimitives.ReadInt32LittleEndian(from), BinaryPrimitives.ReadInt32LittleEndian(from[4..]),
        BinaryPrimitives.ReadSingleLittleEndian(from[8..]), BinaryPrimitives.ReadSingleLittleEndian(from[12..]),
        BinaryPrimitives.ReadInt64LittleEndian(from[16..]));

    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteInt32LittleEndian(to, Bot);
        BinaryPrimitives.WriteInt32LittleEndian(to[4..], Number);
        BinaryPrimitives.WriteSingleLittleEndian(to[8..], X);
        BinaryPrimitives.WriteSingleLittleEndian(to[12..], Y);
        BinaryPrimitives.WriteInt64LittleEndian(to[16..], SentAt);
    }
}
