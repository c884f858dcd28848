using System.Buffers.Binary;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>A conversation of a STREAM that binds with raw peers that send it frames with a length.</summary>
internal sealed class StreamConversation : WireConversation
{
    private const int HeaderSize = sizeof(uint);

    private uint _lastId;

    private StreamConversation(int seed)
        : base(seed, NativeSocketType.Stream, mostPeers: 3, mayConnect: false, isAlwaysReadAtOnce: false)
    {
    }

    public static StreamConversation Make(int seed)
    {
        var conversation = new StreamConversation(seed);
        conversation.Compose();
        return conversation;
    }

    public override (byte[] Question, byte[] Answer)? Ask(uint number) => null;

    public override IEnumerable<string> Account(byte[] heard)
    {
        int at = 0;
        while (at < heard.Length)
        {
            int length = heard.Length - at < HeaderSize ? heard.Length - at
                : (int)Math.Min(heard.Length - at, HeaderSize + (long)BinaryPrimitives.ReadUInt32BigEndian(heard.AsSpan(at)));
            yield return Convert.ToHexStringLower(heard.AsSpan(at, length));
            at += length;
        }
    }

    protected override void MakeOptions()
    {
        // None of its own.
    }

    protected override void MakeApplicationStep()
    {
        byte[] id = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(id, (uint)Random.Next((int)_lastId + 2));

        // The payload 00 ends a peer; natively its connection stays open (docs/protocol.md, section 5).
        byte[] payload = Payload();
        Add(new WireStep.Send([id, payload is [0] ? [2] : payload]));
    }

    protected override bool Greet(int peer, out byte[] bytes)
    {
        _lastId++;
        bytes = [];
        return true;
    }

    protected override bool Speak(int peer, out byte[] bytes)
    {
        var said = new List<byte>();
        int frames = 1 + Random.Next(4);
        for (int i = 0; i < frames; i++)
        {
            // Natively an empty frame ends a connection that is not tcp's.
            byte[] payload = Payload();
            said.AddRange(Frame(payload.Length == 0 && Transport is not TestTransport.Tcp ? [0] : payload));
        }

        bool isCut = MayBreak && Random.Next(12) == 0;
        bool isTooLong = MayBreak && !isCut && Random.Next(12) == 0;
        if (isTooLong)
        {
            said.AddRange(Frame(new byte[WireRun.LongestBody + 1 + Random.Next(1000)]));
        }

        bytes = [.. said];
        if (isCut)
        {
            bytes = bytes[..(1 + Random.Next(bytes.Length - 1))];
        }

        return !isCut && !isTooLong;
    }

    private static byte[] Frame(byte[] payload)
    {
        byte[] frame = new byte[HeaderSize + payload.Length];
        BinaryPrimitives.WriteUInt32BigEndian(frame, (uint)payload.Length);
        payload.CopyTo(frame, HeaderSize);
        return frame;
    }

    private byte[] Payload()
    {
        byte[] payload = new byte[Random.Next(6) switch
        {
            0 => 0,
            1 => 1,
            2 => WireRun.LongestBody - Random.Next(2),
            _ => 2 + Random.Next(40),
        }];
        Random.NextBytes(payload);
        if (payload.Length == 1)
        {
            payload[0] &= 1; // Looks like a connection that begins or ends.
        }

        return payload;
    }
}
