using System.Buffers.Binary;
using System.Text.Json;
using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>
/// The other shape of file: every type byte in a raw HELLO against every native type. Each row becomes a transcript of one step:
/// the scripted peer connects and sends HELLO and READY at once, the socket answers with its own and, where the types do not go together,
/// with an ERROR and its close.
/// </summary>
internal static class CompatibilityMatrix
{
    private const string PeerRoutingId = "RAW1";
    private const string SocketRoutingId = "B1";

    private static readonly Dictionary<string, byte> TypeCodes = new(StringComparer.Ordinal)
    {
        ["PAIR"] = 0,
        ["PUB"] = 1,
        ["SUB"] = 2,
        ["DEALER"] = 5,
        ["ROUTER"] = 6,
        ["XPUB"] = 9,
        ["XSUB"] = 10,
        ["STREAM"] = 11,
    };

    public static IReadOnlyList<Transcript> Read(StrictObject file)
    {
        file.Ignore("description");
        Transcript[] rows = [.. file.List("results").Select(row => ReadRow(new StrictObject(row.Element, row.What)))];
        file.Finish();
        return rows;
    }

    private static Transcript ReadRow(StrictObject row)
    {
        string native = row.Text("native");
        if (!TypeCodes.TryGetValue(native, out byte code))
        {
            throw new TranscriptFormatException($"{row.What}: unknown type {native}");
        }

        byte type = checked((byte)row.Number("hello_type"));
        bool ready = row.Flag("ready");
        row.Ignore("name", "note");
        JsonElement? closed = row.Optional("closed"); // null, not seen in time, counts as closed: it does close
        byte[] answer = row.Has("answer") ? row.Bytes("answer") : [];
        if (ready == (answer.Length > 0) || ready == closed is not null)
        {
            throw new TranscriptFormatException($"{row.What}: answer and closed belong to what is not ready");
        }

        row.Finish();
        return Build($"{native} and type {type}", native, ready, [.. Greeting(code, SocketRoutingId), .. answer],
            Greeting(type, PeerRoutingId));
    }

    private static Transcript Build(string name, string native, bool ready, byte[] fromSocket, byte[] fromPeer)
    {
        var sides = new Dictionary<string, Side>(StringComparer.Ordinal)
        {
            ["a"] = new("a", Side.RawType, SideRole.Connect, [], null, null),
            ["b"] = new("b", native, SideRole.Bind, [new SideOption("ROUTING_ID", OptionValue.Of("B1"u8.ToArray()))], "tcp", null),
        };
        TranscriptAction[] monitor = ready ? [new(0, "b", ActionKind.Monitor)] : [];
        WireRecord[] close = ready ? [] : [new("b", 0, 1) { Close = CloseKind.Fin }];
        return new Transcript(name, ["HELLO READY"], sides)
        {
            Actions = [.. monitor, new(0, "b", ActionKind.Bind), new(0, "a", ActionKind.Connect) { Connection = 1 }],
            Records = [new("a", 0, 1) { Bytes = fromPeer }, new("b", 0, 1) { Bytes = fromSocket }, .. close],
            Events = ready ? [new("b", 0, "CONNECTION_READY", 0, "RAW1"u8.ToArray(), Noise: false, [])] : null,
        };
    }

    /// <summary>HELLO and READY as a ZMP peer of that type sends them, in one write.</summary>
    private static byte[] Greeting(byte type, string routingId)
    {
        byte[] id = System.Text.Encoding.ASCII.GetBytes(routingId);
        byte[] length = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(length, (uint)(3 + id.Length));
        return [0x5a, 1, 2, 0, .. length, 1, type, (byte)id.Length, .. id, 0x5a, 1, 2, 0, 0, 0, 0, 1, 4];
    }
}
