using System.Buffers.Binary;
using System.Text;
using System.Text.Json;

namespace Net.Zlink.Services.Tests.Replay;

/// <summary>One message of a transcript.</summary>
/// <param name="FromA">Whether the side that connected sent it.</param>
/// <param name="Bytes">All frames, as they were on the wire.</param>
/// <param name="Flags">Of its first frame.</param>
/// <param name="Parts">The bodies of its frames.</param>
internal sealed record TranscriptRecord(bool FromA, byte[] Bytes, byte Flags, byte[][] Parts)
{
    private const int HeaderSize = 8;
    private const byte Control = 0x02;

    public bool IsControl => (Flags & Control) != 0;

    /// <summary>The number in front of a service message; 0 for anything else.</summary>
    public ushort MessageId => !IsControl && Flags is 0 or 1 && Parts[0].Length == 2 ? BinaryPrimitives.ReadUInt16LittleEndian(Parts[0])
        : (ushort)0;

    public static TranscriptRecord Parse(bool fromA, byte[] bytes)
    {
        List<byte[]> parts = [];
        for (int at = 0; at < bytes.Length;)
        {
            int length = (int)BinaryPrimitives.ReadUInt32BigEndian(bytes.AsSpan(at + 4));
            parts.Add(bytes.AsSpan(at + HeaderSize, length).ToArray());
            at += HeaderSize + length;
        }

        return new TranscriptRecord(fromA, bytes, bytes[2], [.. parts]);
    }
}

/// <summary>A recorded connection: who spoke, and what. Roles and scenes are made of this alone, never of the name or the description of
/// the file.</summary>
internal sealed class ServiceTranscript
{
    private ServiceTranscript(string file, TranscriptRecord[] records)
    {
        File = file;
        TranscriptRecord[] hellos = [.. records.Where(static record => record is { IsControl: true, Parts: [[1, ..]] })];
        TranscriptRecord a = hellos.Single(static hello => hello.FromA);
        TranscriptRecord b = hellos.Single(static hello => !hello.FromA);
        (TypeOfA, IdOfA) = (a.Parts[0][1], a.Parts[0][3..]);
        (TypeOfB, IdOfB) = (b.Parts[0][1], b.Parts[0][3..]);
        Records = records;
        Data = [.. records.Where(static record => !record.IsControl)];
    }

    public string File { get; }

    public SocketKind TypeOfA { get; }

    public SocketKind TypeOfB { get; }

    public byte[] IdOfA { get; }

    public byte[] IdOfB { get; }

    /// <summary>Everything, handshakes included.</summary>
    public TranscriptRecord[] Records { get; }

    /// <summary>Everything but the handshakes.</summary>
    public TranscriptRecord[] Data { get; }

    public static ServiceTranscript Read(string path)
    {
        using JsonDocument json = JsonDocument.Parse(System.IO.File.ReadAllText(path, Encoding.UTF8));
        return new ServiceTranscript(
            Path.GetFileNameWithoutExtension(path),
            [.. json.RootElement.GetProperty("records").EnumerateArray()
                .Select(static record => TranscriptRecord.Parse(
                record.GetProperty("from").ValueEquals("a"), Convert.FromHexString(record.GetProperty("hex").GetString()!)))]);
    }

    /// <summary>The records of one side's handshake.</summary>
    public TranscriptRecord[] Handshake(bool ofA) => [.. Records.Where(record => record.IsControl && record.FromA == ofA)];
}

/// <summary>The socket types that HELLO names.</summary>
internal readonly record struct SocketKind(byte Number)
{
    public static readonly SocketKind Pub = new(1);
    public static readonly SocketKind Sub = new(2);
    public static readonly SocketKind Dealer = new(5);
    public static readonly SocketKind Router = new(6);
    public static readonly SocketKind XPub = new(9);

    public static implicit operator SocketKind(byte number) => new(number);
}
