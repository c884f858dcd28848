using System.Buffers.Binary;

namespace ProxySample;

/// <summary>What a client asks, and how it knows the right answer: number, then bytes that follow from client and number. The answer
/// repeats the number and adds a checksum of the whole request, and who answered.</summary>
internal static class Request
{
    /// <summary>A number and a client.</summary>
    public const int SmallestSize = 8;

    /// <summary>Number, checksum, worker.</summary>
    public const int ReplySize = 16;

    public static void Write(Span<byte> request, int client, int number)
    {
        BinaryPrimitives.WriteInt32LittleEndian(request, number);
        BinaryPrimitives.WriteInt32LittleEndian(request[4..], client);
        request[SmallestSize..].Fill((byte)(number + (client * 31)));
    }

    public static void WriteReply(Span<byte> reply, ReadOnlySpan<byte> request, int worker)
    {
        request[..4].CopyTo(reply);
        BinaryPrimitives.WriteInt32LittleEndian(reply[4..], worker);
        BinaryPrimitives.WriteUInt64LittleEndian(reply[8..], ChecksumOf(request));
    }

    /// <summary>The number that a reply is for, and the worker that gave it.</summary>
    public static (int Number, int Worker) Read(ReadOnlySpan<byte> reply) =>
        (BinaryPrimitives.ReadInt32LittleEndian(reply), BinaryPrimitives.ReadInt32LittleEndian(reply[4..]));

    /// <summary>Whether the reply is right for that request.</summary>
    public static bool IsRight(ReadOnlySpan<byte> reply, ReadOnlySpan<byte> request) =>
        BinaryPrimitives.ReadUInt64LittleEndian(reply[8..]) == ChecksumOf(request);

    /// <summary>As FNV-1a, but eight bytes a step: short, and every byte counts.</summary>
    private static ulong ChecksumOf(ReadOnlySpan<byte> bytes)
    {
        ulong hash = 14695981039346656037;
        for (; bytes.Length >= sizeof(ulong); bytes = bytes[sizeof(ulong)..])
        {
            hash = (hash ^ BinaryPrimitives.ReadUInt64LittleEndian(bytes)) * 1099511628211;
        }

        foreach (byte value in bytes)
        {
            hash = (hash ^ value) * 1099511628211;
        }

        return hash;
    }
}
