using System.Buffers.Binary;
using Xunit;

namespace Net.Zlink.Interop.Tests.Support;

/// <summary>Bodies whose content follows from a number and a size, so that a byte in the wrong place is seen.</summary>
internal static class TestPayload
{
    /// <summary>A body of that size; its first 8 bytes, as far as they fit, are the number.</summary>
    public static byte[] Make(long number, int size)
    {
        byte[] body = new byte[size];
        Span<byte> head = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(head, number);

        // 251 is prime: the pattern repeats at no power of two, where buffers end.
        for (int i = 0; i < body.Length; i++)
        {
            body[i] = i < head.Length ? head[i] : (byte)((number + i) % 251);
        }

        return body;
    }

    /// <summary>The number in a body of 8 bytes and more.</summary>
    public static long NumberOf(byte[] body) => BinaryPrimitives.ReadInt64BigEndian(body);

    public static byte[][] MakeMessage(long number, int parts, int size) =>
        [.. Enumerable.Range(0, parts).Select(i => Make(number + i, size))];

    /// <summary>Fails with sizes and place, not with a megabyte of bytes.</summary>
    public static void AssertEqual(byte[][] expected, byte[][] actual, string what)
    {
        Assert.True(expected.Length == actual.Length, $"{what}: {actual.Length} parts instead of {expected.Length}");
        for (int i = 0; i < expected.Length; i++)
        {
            Assert.True(expected[i].Length == actual[i].Length,
                $"{what}: part {i} has {actual[i].Length} bytes instead of {expected[i].Length}{WhoseItIs(actual[i])}");
            int same = expected[i].AsSpan().CommonPrefixLength(actual[i]);
            Assert.True(same == expected[i].Length,
                $"{what}: part {i} differs at byte {same} of {expected[i].Length}{WhoseItIs(actual[i])}");
        }
    }

    // Another message in this one's place is a loss or a wrong order; a mixture is torn or overwritten.
    private static string WhoseItIs(byte[] body)
    {
        if (body.Length < sizeof(long))
        {
            return "";
        }

        long number = NumberOf(body);
        string state = body.AsSpan().SequenceEqual(Make(number, body.Length)) ? "whole" : "damaged";
        return string.Create(System.Globalization.CultureInfo.InvariantCulture, $"; it is number {number}, {state}");
    }
}
