using System.Buffers.Binary;

namespace Net.Zlink.Fuzzing;

/// <summary>Changes an input in a few places, with what parsers are sensitive to.</summary>
internal sealed class Mutator(Random random, byte[][] words)
{
    public const int MaxLength = 4096;

    private static readonly uint[] s_numbers =
        [0, 1, 2, 3, 4, 7, 8, 16, 32, 60, 61, 64, 100, 125, 126, 127, 128, 250, 254, 255, 256, 1000, 4096, 8191, 8192, 8193, 0x7FFF, 0x8000,
        0xFFFF, 0x10000, 0x10001, 0x800000, 0x7FFFFFC7, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF];

    /// <summary>A changed copy; <paramref name="other"/> gives pieces to it.</summary>
    public byte[] Mutate(byte[] input, byte[] other)
    {
        List<byte> bytes = [.. input];
        for (int steps = 1 << random.Next(5); steps > 0; steps--)
        {
            Step(bytes, other);
        }

        return [.. bytes.Take(MaxLength)];
    }

    private void Step(List<byte> bytes, byte[] other)
    {
        int at = random.Next(bytes.Count + 1);
        int length = Math.Min(bytes.Count - at, 1 << random.Next(8));
        switch (random.Next(10))
        {
            case 0 when at < bytes.Count:
                bytes[at] ^= (byte)(1 << random.Next(8));
                break;
            case 1 when at < bytes.Count:
                bytes[at] = (byte)random.Next(256);
                break;
            case 2 when at < bytes.Count:
                bytes[at] += (byte)random.Next(-16, 17);
                break;
            case 3:
                bytes.Insert(at, (byte)random.Next(256));
                break;
            case 4:
                bytes.RemoveRange(at, length);
                break;
            case 5: // Repeats a piece.
                bytes.InsertRange(random.Next(bytes.Count + 1), bytes.GetRange(at, length));
                break;
            case 6 or 7 when words.Length > 0:
                Put(bytes, at, words[random.Next(words.Length)]);
                break;
            case 8:
                Put(bytes, at, Number());
                break;
            default:
                if (other.Length > 0)
                {
                    int from = random.Next(other.Length);
                    Put(bytes, at, other[from..random.Next(from, other.Length)]);
                }

                break;
        }
    }

    private void Put(List<byte> bytes, int at, byte[] piece)
    {
        if (random.Next(2) == 0)
        {
            bytes.RemoveRange(at, Math.Min(piece.Length, bytes.Count - at));
        }

        bytes.InsertRange(at, piece);
    }

    private byte[] Number()
    {
        var bytes = new byte[sizeof(uint)];
        uint number = s_numbers[random.Next(s_numbers.Length)];
        bool isBigEndian = random.Next(2) == 0;
        if (isBigEndian)
        {
            BinaryPrimitives.WriteUInt32BigEndian(bytes, number);
        }
        else
        {
            BinaryPrimitives.WriteUInt32LittleEndian(bytes, number);
        }

        int size = 1 << random.Next(3);
        return isBigEndian ? bytes[^size..] : bytes[..size];
    }
}
