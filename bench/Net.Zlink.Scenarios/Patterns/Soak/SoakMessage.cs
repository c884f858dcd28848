using System.Buffers.Binary;

namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>Messages whose length and content follow from their number, so that the receiver knows what it must get.</summary>
internal static class SoakMessage
{
    public const int Longest = 128 * 1024;

    private const int Header = sizeof(long);

    // Both ends of a payload show a buffer that was cut, moved or used twice; comparing all of 128 KB would measure memory.
    private const int Checked = 64;

    /// <summary>Writes message <paramref name="number"/> and returns its length.</summary>
    public static int Write(Span<byte> into, long number)
    {
        int length = LengthOf(number);
        BinaryPrimitives.WriteInt64LittleEndian(into, number);
        Fill(into[Header..Math.Min(length, Header + Checked)], number);
        Fill(into[Math.Max(Header, length - Checked)..length], number);
        return length;
    }

    /// <summary>The number of a message, or -1 if it is not as it was sent.</summary>
    public static long Read(ReadOnlySpan<byte> message)
    {
        if (message.Length < Header)
        {
            return -1;
        }

        long number = BinaryPrimitives.ReadInt64LittleEndian(message);
        return number >= 0 && LengthOf(number) == message.Length
            && IsFilled(message[Header..Math.Min(message.Length, Header + Checked)], number)
            && IsFilled(message[Math.Max(Header, message.Length - Checked)..], number)
            ? number
            : -1;
    }

    /// <summary>Most are short, some fill a read, a few are longer than any buffer: one path of the engine each.</summary>
    private static int LengthOf(long number)
    {
        // The finalizer of splitmix64: neighbours get lengths that have nothing to do with each other.
        ulong mixed = (ulong)number + 0x9E3779B97F4A7C15;
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
        mixed ^= mixed >> 31;
        int most = (mixed % 100) switch
        {
            < 80 => 1024,
            < 97 => 16 * 1024,
            _ => Longest,
        };
        return Header + (int)((mixed >> 8) % (ulong)(most - Header + 1));
    }

    private static void Fill(Span<byte> part, long number) => part.Fill((byte)(number * 31));

    private static bool IsFilled(ReadOnlySpan<byte> part, long number) => !part.ContainsAnyExcept((byte)(number * 31));
}
