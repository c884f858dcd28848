using System.Buffers.Binary;
using System.Globalization;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>
/// Messages that tell who sent them and as which: their parts, sizes and bytes all follow from the two numbers, so a message that is torn,
/// mixed with another or changed in one byte is found out.
/// Every part says which of how many it is.
/// </summary>
internal static class Numbered
{
    public const int MostParts = 4;
    private const int HeaderSize = 12;

    // The longest goes in a segment of its own (from 16 KiB on), which is another way through the library than that of short ones.
    private const int LongSize = 20_000;

    /// <summary>How many parts this message has: 1 for most, up to 4.</summary>
    public static int PartsOf(int sender, int number) => Hash(sender, number, 0) % 4 == 0 ? 2 + (Hash(sender, number, 1) % (MostParts - 1))
        : 1;

    /// <summary>One of its parts. The topic comes before everything in the first.</summary>
    public static byte[] Part(int sender, int number, int index, ReadOnlySpan<byte> topic = default)
    {
        int parts = PartsOf(sender, number);
        int size = SizeOf(sender, number, index);
        int start = index == 0 ? topic.Length : 0;
        byte[] part = new byte[start + HeaderSize + size];
        topic[..start].CopyTo(part);
        Span<byte> header = part.AsSpan(start);
        BinaryPrimitives.WriteInt32LittleEndian(header, sender);
        BinaryPrimitives.WriteInt32LittleEndian(header[4..], number);
        BinaryPrimitives.WriteInt16LittleEndian(header[8..], (short)index);
        BinaryPrimitives.WriteInt16LittleEndian(header[10..], (short)parts);
        header[HeaderSize..].Fill(FillOf(sender, number, index));
        return part;
    }

    /// <summary>Puts the whole message into a builder.</summary>
    public static MessageBuilder Build(MessageBuilder builder, int sender, int number, ReadOnlySpan<byte> topic = default)
    {
        builder.Clear();
        for (int i = 0; i < PartsOf(sender, number); i++)
        {
            builder.Add(Part(sender, number, i, topic));
        }

        return builder;
    }

    /// <summary>Fails if this is not one of these messages, whole and unchanged; says which it is.</summary>
    /// <param name="message">What was received.</param>
    /// <param name="topicLength">Bytes before the first part's own.</param>
    public static (int Sender, int Number) Check(in Message message, int topicLength = 0)
    {
        (int sender, int number) = Read(message.Span[topicLength..]);
        int parts = PartsOf(sender, number);
        Assert.True(parts == message.PartCount, Text($"message {number} of {sender} has {parts} parts and came in {message.PartCount}"));
        for (int i = 0; i < parts; i++)
        {
            ReadOnlySpan<byte> part = message[i].Span;
            part = i == 0 ? part[topicLength..] : part;
            bool isWhole = part.Length == HeaderSize + SizeOf(sender, number, i)
                && Read(part) == (sender, number)
                && BinaryPrimitives.ReadInt16LittleEndian(part[8..]) == i
                && BinaryPrimitives.ReadInt16LittleEndian(part[10..]) == parts
                && part[HeaderSize..].IndexOfAnyExcept(FillOf(sender, number, i)) < 0;
            Assert.True(isWhole,
                Text($"part {i} of message {number} of {sender} is torn, changed or of another message ({part.Length} bytes)"));
        }

        return (sender, number);
    }

    private static (int Sender, int Number) Read(ReadOnlySpan<byte> part)
    {
        Assert.True(part.Length >= HeaderSize, Text($"a part of {part.Length} bytes was never sent"));
        return (BinaryPrimitives.ReadInt32LittleEndian(part), BinaryPrimitives.ReadInt32LittleEndian(part[4..]));
    }

    private static int SizeOf(int sender, int number, int index)
    {
        int hash = Hash(sender, number, index + 2);
        return (hash % 97) switch
        {
            0 => LongSize + (hash % 1_000),
            < 10 => hash % 3_000,
            _ => hash % 60,
        };
    }

    private static byte FillOf(int sender, int number, int index) => (byte)(Hash(sender, number, index + 9) | 1);

    private static int Hash(int sender, int number, int salt)
    {
        uint hash = ((uint)sender * 0x9E3779B1u) ^ ((uint)number * 0x85EBCA77u) ^ ((uint)salt * 0xC2B2AE3Du);
        hash = (hash ^ (hash >> 15)) * 0x2C1B3C6Du;
        return (int)((hash ^ (hash >> 13)) & int.MaxValue);
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
