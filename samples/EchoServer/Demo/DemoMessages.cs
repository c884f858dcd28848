using System.Buffers.Binary;
using System.Diagnostics;

namespace EchoServer.Demo;

/// <summary>
/// What message number n of a client looks like. It is decided by the two numbers alone, so each reply can be checked whole:
/// a lost, doubled, swapped, cut or altered message, or one of another client, does not match what is due.
/// </summary>
internal static class DemoMessages
{
    /// <summary>The length prefix: a 32-bit big-endian number.</summary>
    public const int PrefixSize = 4;

    public const int LargestFrame = PrefixSize + DemoPlan.MessageSize;

    /// <summary>An ordinary payload: sequence number (8 bytes), time stamp (8 bytes), then filling.</summary>
    private const int FillingAt = 16;

    /// <summary>In every 64 messages, one is the single byte 00, one the single byte 01 and one is empty.</summary>
    private const int Cycle = 64;
    private const int ZeroByteAt = 0;
    private const int OneByteAt = 20;
    private const int EmptyAt = 40;

    /// <summary>
    /// The filling of a message is a piece of these bytes; where it begins depends on the client and the sequence number.
    /// </summary>
    private static readonly byte[] Noise = MakeNoise();

    private static readonly byte[] ZeroByte = [0x00];
    private static readonly byte[] OneByte = [0x01];

    /// <summary>Writes one frame and returns its length.</summary>
    public static int WriteFrame(Span<byte> destination, int client, long sequence, long timestamp)
    {
        ReadOnlySpan<byte> payload = SpecialPayload(sequence, out bool special);
        int length = special ? payload.Length : DemoPlan.MessageSize;
        BinaryPrimitives.WriteUInt32BigEndian(destination, (uint)length);
        Span<byte> body = destination.Slice(PrefixSize, length);
        if (special)
        {
            payload.CopyTo(body);
        }
        else
        {
            BinaryPrimitives.WriteInt64LittleEndian(body, sequence);
            BinaryPrimitives.WriteInt64LittleEndian(body[8..], timestamp);
            Filling(client, sequence).CopyTo(body[FillingAt..]);
        }

        return PrefixSize + length;
    }

    /// <summary>
    /// Null if <paramref name="payload"/> is message <paramref name="sequence"/> of the client, else what is wrong with it.
    /// </summary>
    public static string? FaultOf(ReadOnlySpan<byte> payload, int client, long sequence)
    {
        ReadOnlySpan<byte> due = SpecialPayload(sequence, out bool special);
        int length = special ? due.Length : DemoPlan.MessageSize;
        if (payload.Length != length)
        {
            return $"has {payload.Length} bytes instead of {length}";
        }

        if (special)
        {
            return payload.SequenceEqual(due) ? null : $"is the byte {payload[0]:X2} instead of {due[0]:X2}";
        }

        long found = BinaryPrimitives.ReadInt64LittleEndian(payload);
        if (found != sequence)
        {
            return $"is number {found}: out of order";
        }

        return payload[FillingAt..].SequenceEqual(Filling(client, sequence)) ? null : "has other content than was sent";
    }

    /// <summary>When the message was sent (a <see cref="Stopwatch"/> time stamp), or 0 for the short ones, which carry none.</summary>
    public static long TimestampOf(ReadOnlySpan<byte> payload) =>
        payload.Length == DemoPlan.MessageSize ? BinaryPrimitives.ReadInt64LittleEndian(payload[8..]) : 0;

    private static ReadOnlySpan<byte> SpecialPayload(long sequence, out bool special)
    {
        long place = sequence % Cycle;
        special = place is ZeroByteAt or OneByteAt or EmptyAt;
        return place switch
        {
            ZeroByteAt => ZeroByte,
            OneByteAt => OneByte,
            _ => [],
        };
    }

    private static ReadOnlySpan<byte> Filling(int client, long sequence)
    {
        // Odd factors: neighbours in either number begin elsewhere.
        const int Length = DemoPlan.MessageSize - FillingAt;
        int start = (int)(((client * 131L) + (sequence * 17L)) % (Noise.Length - Length));
        return Noise.AsSpan(start, Length);
    }

    private static byte[] MakeNoise()
    {
        // Any bytes will do as long as no two stretches are alike: xorshift32, which is the same on every run.
        byte[] noise = new byte[8192];
        uint state = 2463534242;
        foreach (ref byte value in noise.AsSpan())
        {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            value = (byte)(state >> 24);
        }

        return noise;
    }
}
