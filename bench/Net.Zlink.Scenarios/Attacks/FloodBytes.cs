namespace Net.Zlink.Scenarios.Attacks;

/// <summary>What a flooding peer sends over and over, behind the handshake.</summary>
/// <param name="Name">As on the command line.</param>
/// <param name="Unit">Sent again and again.</param>
/// <param name="IsWebSocket">The unit is of WebSocket frames. Otherwise it is a ZMP frame, in a message of its own over ws.</param>
/// <param name="ByteByByte">Each byte is one write.</param>
internal sealed record FloodBytes(string Name, byte[] Unit, bool IsWebSocket, bool ByteByByte = false)
{
    private const int MaskedEmptyHeader = 6;

    private static readonly byte[] s_heartbeat = [0x5A, 1, 2, 0, 0, 0, 0, 4, 2, 0, 0, 0];

    public static IReadOnlyList<FloodBytes> All { get; } =
    [
        new("heartbeat", s_heartbeat, IsWebSocket: false),
        new("heartbeat-ack", [0x5A, 1, 2, 0, 0, 0, 0, 2, 3, 0], IsWebSocket: false),
        new("empty-message", [0x5A, 1, 0, 0, 0, 0, 0, 0], IsWebSocket: false),
        new("empty-part", [0x5A, 1, 1, 0, 0, 0, 0, 0], IsWebSocket: false),
        new("byte-by-byte", s_heartbeat, IsWebSocket: false, ByteByByte: true),
        new("pong", Empty(0x8A), IsWebSocket: true),
        new("ping", Empty(0x89), IsWebSocket: true),
        new("empty-ws-message", Empty(0x82), IsWebSocket: true),
        new("empty-fragment", [.. Empty(0x02), .. Empty(0x00), .. Empty(0x00), .. Empty(0x80)], IsWebSocket: true),
        new("endless-fragments", Empty(0x00), IsWebSocket: true), // Behind the beginning of a message.
        new("ws-byte-by-byte", Empty(0x8A), IsWebSocket: true, ByteByByte: true),
    ];

    /// <summary>Sent once before the units.</summary>
    public byte[] Before => Name is "endless-fragments" ? Empty(0x02) : [];

    public bool IsOf(string transport) => !IsWebSocket || transport is "ws" or "wss";

    /// <summary>An empty WebSocket frame of a client: its mask is 0.</summary>
    private static byte[] Empty(byte first)
    {
        byte[] frame = new byte[MaskedEmptyHeader];
        (frame[0], frame[1]) = (first, 0x80);
        return frame;
    }

    /// <summary>Bytes in a WebSocket message of a client.</summary>
    public static byte[] Message(byte[] payload) => [0x82, (byte)(0x80 | payload.Length), 0, 0, 0, 0, .. payload];
}
