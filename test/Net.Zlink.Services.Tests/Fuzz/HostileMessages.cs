using System.Buffers.Binary;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Tests.Support;
using static Net.Zlink.Services.Tests.Support.RegistryClient;

namespace Net.Zlink.Services.Tests;

/// <summary>Messages of any bytes that begin like those of the services. A failure shows the seed.</summary>
internal sealed class HostileMessages
{
    // Length of arrays, and number of messages in one sample.
    private const int Size = 200;

    private static readonly Gen<byte[]> Bytes = Gen.Choose(0, 255).Select(static value => (byte)value).ArrayOf();

    private static readonly Gen<byte[]> Frame = Gen.Frequency(
        (4, Gen.Elements(U16(1), U16(2), U16(3), U16(4), U16(5), U16(6), U16(7))),
        (4, Gen.Elements(U32(0), U32(1), U32(2), U32(uint.MaxValue))),
        (2, Gen.Elements(U64(0), U64(9), U64(ulong.MaxValue))),
        (4, Gen.Elements(Text(""), Text("svc"), Text("tcp://127.0.0.1:9"), new byte[256])),
        (2, Bytes));

    private readonly Rnd _random;

    public HostileMessages()
    {
        Seed = (ulong)Random.Shared.NextInt64();
        _random = new Rnd(Seed);
    }

    public ulong Seed { get; }

    /// <summary>Envelopes of any kind, whole and cut, with good and bad extensions, in front of any parts.</summary>
    public byte[][][] Envelopes(params ulong[] ids)
    {
        Gen<ulong> id = Gen.Elements<ulong>([0, 1, ulong.MaxValue, .. ids]);
        Gen<byte[]> extension = Gen.Frequency(
            (2, Gen.Elements<byte[]>([2, 4, 0, 0, 0, 0], [2, 4, 255, 255, 255, 255], [2, 3, 1, 1, 1])),
            (2, Gen.Elements<byte[]>([3, 8, 0, 0, 0, 0, 0, 0, 0, 0], [3, 8, 255, 255, 255, 255, 255, 255, 255, 127], [3, 0])),
            (2, Gen.Elements<byte[]>([4, 3, (byte)'s', (byte)'v', (byte)'c'], [4, 0], [4, 200, 1])),
            (1, Bytes));
        Gen<byte[]> envelope = from kind in Gen.Choose(0, 7)
                               from flags in Gen.Choose(0, 255)
                               from code in Gen.Choose(0, 5)
                               from number in id
                               from extensions in extension.ArrayOf()
                               from cut in Gen.Frequency((5, Gen.Constant(int.MaxValue)), (1, Gen.Choose(0, 20)))
                               select Cut(
                                   [.. Header((byte)kind, (byte)flags, (ushort)code, number), .. extensions.SelectMany(static x => x)],
                                   cut);
        return Sample(from first in Gen.Frequency((6, envelope), (1, Bytes))
                      from rest in Bytes.ArrayOf().Resize(3)
                      select (byte[][])[first, .. rest]);
    }

    /// <summary>What registries and discoveries are sent: the right numbers in any order, and any bytes.</summary>
    public byte[][][] Frames() =>
        Sample(from opening in Gen.Elements<byte[][]>(
                   [], [U16(5), U32(7), U64(1), U32(2)], [U16(6), U32(0), U64(1), U32(uint.MaxValue)], [U16(1), U16(1)], [U16(7), U16(1)])
               from rest in Frame.ArrayOf()
               where opening.Length + rest.Length > 0
               select (byte[][])[.. opening, .. rest]);

    public static async Task SendAsync(Func<MessageBuilder, CancellationToken, ValueTask> send, byte[][][] messages)
    {
        using var builder = new MessageBuilder();
        foreach (byte[][] message in messages)
        {
            builder.Clear();
            Array.ForEach(message, part => builder.Add(part));
            await send(builder, Guard.Token).Guarded();
        }
    }

    private byte[][][] Sample(Gen<byte[][]> messages) => [.. messages.Sample(Size, _random, Size)];

    private static byte[] Cut(byte[] bytes, int length) => bytes[..Math.Min(length, bytes.Length)];

    private static byte[] Header(byte kind, byte flags, ushort code, ulong id)
    {
        byte[] header = [0x5A, (byte)'R', (byte)'P', 1, kind, flags, .. new byte[10]];
        BinaryPrimitives.WriteUInt16LittleEndian(header.AsSpan(6), code);
        BinaryPrimitives.WriteUInt64LittleEndian(header.AsSpan(8), id);
        return header;
    }
}
