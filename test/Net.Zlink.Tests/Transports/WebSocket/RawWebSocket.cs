using System.Buffers.Binary;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>One frame as it is on the wire.</summary>
/// <param name="First">FIN, the reserved bits and the opcode.</param>
/// <param name="Mask">The key of its mask; empty where it had none.</param>
/// <param name="Payload">Unmasked.</param>
internal sealed record WebSocketFrame(byte First, byte[] Mask, byte[] Payload)
{
    public bool IsMasked => Mask.Length > 0;

    public bool IsClose => (First & 0x0F) == RawWebSocket.Close;

    /// <summary>The code of a CLOSE; 1005 where it has none.</summary>
    public int Code => Payload.Length < 2 ? 1005 : BinaryPrimitives.ReadUInt16BigEndian(Payload);
}

/// <summary>The WebSocket wire written down a second time (RFC 6455, 5.2), independent of any library, to say right and wrong things
/// with.</summary>
internal sealed class RawWebSocket(RawPeer peer) : IDisposable
{
    public const byte Fin = 0x80;
    public const byte Text = 0x1;
    public const byte Binary = 0x2;
    public const byte Close = 0x8;
    public const byte Ping = 0x9;
    public const byte Pong = 0xA;

    private static readonly byte[] Mask = [0x11, 0x22, 0x33, 0x44];

    public RawPeer Peer => peer;

    /// <summary>A good request.</summary>
    public static string Request { get; } =
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "
            + "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

    /// <summary>The tcp endpoint beneath a ws endpoint of the library's.</summary>
    public static string TcpOf(string endpoint)
    {
        var uri = new Uri(endpoint);
        return $"tcp://{uri.Host}:{uri.Port}";
    }

    /// <summary>The ws endpoint at which a plain listener can be connected to.</summary>
    public static string WsOf(RawListener listener) => listener.Endpoint.Replace("tcp://", "ws://", StringComparison.Ordinal);

    /// <summary>Connects to a listener of the library's, upgrade included.</summary>
    public static async Task<RawWebSocket> ConnectAsync(string endpoint)
    {
        var socket = new RawWebSocket(await RawPeer.ConnectAsync(TcpOf(endpoint)));
        await socket.Peer.SendAsync(Encoding.ASCII.GetBytes(Request));
        Assert.StartsWith("HTTP/1.1 101 ", await socket.ReadHeadAsync(), StringComparison.Ordinal);
        return socket;
    }

    /// <summary>Takes a connecter's request and answers it.</summary>
    public static async Task<RawWebSocket> AcceptAsync(RawListener listener)
    {
        var socket = new RawWebSocket(await listener.AcceptAsync());
        await socket.AnswerAsync(await socket.ReadHeadAsync());
        return socket;
    }

    /// <summary>Answers a request.</summary>
    public Task AnswerAsync(string head) => peer.SendAsync(Encoding.ASCII.GetBytes(
        $"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
            + $"{AcceptFor(KeyOf(head))}\r\n\r\n"));

    /// <summary>A STREAM socket of the library's in either role, the other end, and the number that this has as a peer; its connect event
    /// is taken.</summary>
    public static async Task<(StreamSocket Ours, RawWebSocket Theirs, uint Id)> PairAsync(
        StreamFixture fixture, bool weConnect, TestHandler? handler = null)
    {
        StreamSocket ours = fixture.Context.CreateStream();
        RawWebSocket theirs;
        if (weConnect)
        {
            RawListener listener = fixture.Listen();
            Task<uint> connecting = ours.ConnectAsync(WsOf(listener), new StreamConnectOptions { Handler = handler }, Guard.Token).AsTask();
            theirs = fixture.Own(await AcceptAsync(listener));
            await connecting.Guarded();
        }
        else
        {
            const string Any = "ws://127.0.0.1:0";
            theirs = fixture.Own(await ConnectAsync(handler is null ? ours.Bind(Any) : ours.Bind(Any, handler)));
        }

        return (ours, theirs, handler is null ? await ours.NextConnectedAsync() : (await handler.NextConnectedAsync()).Id);
    }

    /// <summary>The key in a request.</summary>
    public static string KeyOf(string head)
    {
        const string Field = "Sec-WebSocket-Key: ";
        int at = head.IndexOf(Field, StringComparison.Ordinal) + Field.Length;
        return head[at..head.IndexOf('\r', at)];
    }

#pragma warning disable CA5350 // RFC 6455 prescribes SHA-1.
    /// <summary>The Sec-WebSocket-Accept that answers a key.</summary>
    public static string AcceptFor(string key) =>
        Convert.ToBase64String(System.Security.Cryptography.SHA1.HashData(
            Encoding.ASCII.GetBytes(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")));
#pragma warning restore CA5350

    /// <summary>One frame's bytes.</summary>
    /// <param name="first">FIN, the reserved bits and the opcode.</param>
    /// <param name="payload">Unmasked.</param>
    /// <param name="masked">As a client's.</param>
    /// <param name="lengthBytes">1, 3 or 9; 0: as few as do.</param>
    public static byte[] Frame(int first, ReadOnlySpan<byte> payload, bool masked = true, int lengthBytes = 0)
    {
        lengthBytes = lengthBytes > 0 ? lengthBytes : payload.Length < 126 ? 1 : payload.Length <= ushort.MaxValue ? 3 : 9;
        byte[] frame = new byte[1 + lengthBytes + (masked ? 4 : 0) + payload.Length];
        frame[0] = (byte)first;
        frame[1] = (byte)((masked ? 0x80 : 0) | (lengthBytes == 1 ? payload.Length : lengthBytes == 3 ? 126 : 127));
        if (lengthBytes == 3)
        {
            BinaryPrimitives.WriteUInt16BigEndian(frame.AsSpan(2), (ushort)payload.Length);
        }
        else if (lengthBytes == 9)
        {
            BinaryPrimitives.WriteUInt64BigEndian(frame.AsSpan(2), (ulong)payload.Length);
        }

        Span<byte> body = frame.AsSpan(frame.Length - payload.Length);
        payload.CopyTo(body);
        if (masked)
        {
            Mask.CopyTo(frame, 1 + lengthBytes);
            Unmask(body);
        }

        return frame;
    }

    /// <summary>A CLOSE with a code and a reason.</summary>
    public static byte[] CloseFrame(int code, string reason = "", bool masked = true)
    {
        byte[] payload = [(byte)(code >> 8), (byte)code, .. Encoding.UTF8.GetBytes(reason)];
        return Frame(Fin | Close, payload, masked);
    }

    public Task SendAsync(params byte[] bytes) => peer.SendAsync(bytes);

    /// <summary>A whole binary message from the client's side.</summary>
    public Task SendMessageAsync(byte[] payload) => SendAsync(Frame(Fin | Binary, payload));

    /// <summary>The next frame; null at the orderly end.</summary>
    public async Task<WebSocketFrame?> ReadFrameAsync()
    {
        byte[] header = await peer.ReadAsync(2);
        if (header.Length == 0)
        {
            return null;
        }

        int length = header[1] & 0x7F;
        if (length == 126)
        {
            length = BinaryPrimitives.ReadUInt16BigEndian(await peer.ReadAsync(2));
        }
        else if (length == 127)
        {
            length = (int)BinaryPrimitives.ReadInt64BigEndian(await peer.ReadAsync(8));
        }

        byte[] mask = (header[1] & 0x80) != 0 ? await peer.ReadAsync(4) : [];
        byte[] payload = await peer.ReadAsync(length);
        Assert.Equal(length, payload.Length);
        for (int i = 0; mask.Length > 0 && i < length; i++)
        {
            payload[i] ^= mask[i % 4];
        }

        return new WebSocketFrame(header[0], mask, payload);
    }

    /// <summary>Reads an HTTP head, byte by byte so that nothing behind it is taken.</summary>
    public Task<string> ReadHeadAsync() => ReadHeadAsync(() => peer.ReadAsync(1));

    /// <summary>As <see cref="ReadHeadAsync()"/>, of whatever brings one byte, or none at its end.</summary>
    public static async Task<string> ReadHeadAsync(Func<Task<byte[]>> readOne)
    {
        var head = new StringBuilder();
        while (!head.ToString().EndsWith("\r\n\r\n", StringComparison.Ordinal))
        {
            byte[] one = await readOne();
            Assert.Single(one);
            head.Append((char)one[0]);
        }

        return head.ToString();
    }

    public void Dispose() => peer.Dispose();

    private static void Unmask(Span<byte> bytes)
    {
        for (int i = 0; i < bytes.Length; i++)
        {
            bytes[i] ^= Mask[i % 4];
        }
    }
}
