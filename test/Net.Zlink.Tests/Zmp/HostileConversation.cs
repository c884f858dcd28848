using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;

namespace Net.Zlink.Tests.Zmp;

/// <summary>How a hostile client ends.</summary>
internal enum HostileEnd
{
    /// <summary>It ends its side and waits for the other.</summary>
    Orderly,

    /// <summary>It resets the connection.</summary>
    Reset,

    /// <summary>It closes without having read anything.</summary>
    Abrupt,
}

/// <summary>What one hostile client says, in which pieces, and how it leaves.</summary>
[SuppressMessage("Security", "CA5394", Justification = "Chance that can be repeated is wanted here.")]
internal sealed record HostileConversation(byte[] Bytes, int[] Cuts, HostileEnd End)
{
    // The numbers that lengths go wrong at: none, one more or less than there is, a limit, the largest signed and unsigned.
    private static readonly uint[] OddLengths = [0, 1, 3, 100, 101, 258, 259, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF];

    private static readonly string[] Controls =
    [
        "02000000", "0200000163", "02000A00", "0200010163", "02", "0300", "030163", "050500", "057F0E696E7465726E616C206572726F72", "0501",
        "", "06", "04", "0200", "03", "0504", "01050452415731", "020000116161616161616161616161616161616161",
    ];

    /// <param name="random">Where chance comes from.</param>
    /// <param name="server">Whom it talks to.</param>
    public static HostileConversation Next(Random random, ZmpSocketType server)
    {
        byte[] bytes = random.Next(10) switch
        {
            0 => Garbage(random),
            1 or 2 => Join(Talk(random, server)),
            3 or 4 or 5 => MutateBytes(random, Join(MutateFrames(random, Talk(random, server)))),
            6 or 7 or 8 => [.. Join(Handshake(random, server)), .. MutateBytes(random, Join(MutateFrames(random, Frames(random))))],
            _ => [.. Join(Handshake(random, server)), .. Garbage(random)],
        };
        return new HostileConversation(bytes, CutsOf(random, bytes.Length), (HostileEnd)random.Next(3));
    }

    public override string ToString() => $"{End} {Convert.ToHexString(Bytes)} in {string.Join(' ', Cuts)}";

    private static List<byte[]> Talk(Random random, ZmpSocketType server) => [.. Handshake(random, server), .. Frames(random)];

    private static List<byte[]> Handshake(Random random, ZmpSocketType server)
    {
        ZmpSocketType[] fitting = server switch
        {
            ZmpSocketType.Pair => [ZmpSocketType.Pair],
            ZmpSocketType.Dealer or ZmpSocketType.Router => [ZmpSocketType.Dealer, ZmpSocketType.Router],
            ZmpSocketType.Pub or ZmpSocketType.XPub => [ZmpSocketType.Sub, ZmpSocketType.XSub],
            _ => [ZmpSocketType.Pub, ZmpSocketType.XPub],
        };
        ZmpSocketType own = fitting[random.Next(fitting.Length)];
        byte[] id = Chance(random, random.Next(8) switch { 0 => 0, 1 => 255, _ => random.Next(1, 9) });
        byte[] hello = ZmpFixture.Frame(2, [1, (byte)own, (byte)id.Length, .. id]);
        byte[] name = Encoding.ASCII.GetBytes(own.Name);
        byte[] ready = random.Next(3) > 0
            ? ZmpFixture.Frame(2, [4])
            : ZmpFixture.Frame(2, [4, .. Property("Socket-Type", name), .. Property("Identity", id),
                .. Property("X-Odd", Chance(random, random.Next(20)))]);
        return [hello, ready];
    }

    private static byte[] Property(string name, byte[] value)
    {
        byte[] property = [(byte)name.Length, .. Encoding.ASCII.GetBytes(name), 0, 0, 0, 0, .. value];
        BinaryPrimitives.WriteUInt32BigEndian(property.AsSpan(1 + name.Length), (uint)value.Length);
        return property;
    }

    private static List<byte[]> Frames(Random random)
    {
        List<byte[]> frames = [];
        for (int left = random.Next(12); left > 0; left--)
        {
            frames.Add(random.Next(12) switch
            {
                < 4 => ZmpFixture.Frame(0, Body(random)),
                < 7 => ZmpFixture.Frame(1, Body(random)),
                7 => ZmpFixture.Frame(8, Body(random)),
                8 => ZmpFixture.Frame(16, Body(random)),
                9 => ZmpFixture.Frame((byte)(4 + random.Next(2)), Body(random)),
                _ => ZmpFixture.Control(Controls[random.Next(random.Next(2) == 0 ? 7 : Controls.Length)]),
            });
        }

        return frames;
    }

    private static byte[] Body(Random random)
    {
        byte[] body = Chance(random, random.Next(20) switch { 0 => 20_000, < 4 => random.Next(99, 103), < 8 => 0, _ => random.Next(20) });
        if (body.Length > 0 && random.Next(2) == 0)
        {
            body[0] = (byte)random.Next(2); // What XSUB's applications say.
        }

        return body;
    }

    private static List<byte[]> MutateFrames(Random random, List<byte[]> frames)
    {
        for (int left = random.Next(3); left > 0 && frames.Count > 0; left--)
        {
            int at = random.Next(frames.Count);
            int other = random.Next(frames.Count);
            switch (random.Next(4))
            {
                case 0:
                    frames.Insert(other, frames[at]);
                    break;
                case 1:
                    (frames[at], frames[other]) = (frames[other], frames[at]);
                    break;
                case 2:
                    frames.RemoveAt(at);
                    break;
                default:
                    byte[] odd = [.. frames[at]];
                    BinaryPrimitives.WriteUInt32BigEndian(odd.AsSpan(4), OddLengths[random.Next(OddLengths.Length)]);
                    frames[at] = odd;
                    break;
            }
        }

        return frames;
    }

    private static byte[] MutateBytes(Random random, byte[] bytes)
    {
        for (int left = random.Next(4); left > 0 && bytes.Length > 0; left--)
        {
            int at = random.Next(bytes.Length);
            bytes = random.Next(4) switch
            {
                0 => bytes[..at],
                1 => [.. bytes[..at], (byte)random.Next(256), .. bytes[at..]],
                _ => [.. bytes[..at], (byte)(bytes[at] ^ (1 << random.Next(8))), .. bytes[(at + 1)..]],
            };
        }

        return bytes;
    }

    private static byte[] Garbage(Random random) => Chance(random, random.Next(random.Next(2) == 0 ? 20 : 400));

    private static byte[] Join(List<byte[]> frames) => [.. frames.SelectMany(static frame => frame)];

    private static byte[] Chance(Random random, int length)
    {
        byte[] bytes = new byte[length];
        random.NextBytes(bytes);
        return bytes;
    }

    private static int[] CutsOf(Random random, int length) => random.Next(4) switch
    {
        0 => [length + 1],
        1 when length < 300 => [1],
        _ => [.. Enumerable.Range(0, 5).Select(_ => 1 + random.Next(1 + (length / 3)))],
    };
}
