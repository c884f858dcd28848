using System.Buffers.Binary;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>The masks of who connects (RFC 6455, 5.3): each frame has one, made anew, so that no page and no peer can foretell the bytes on
/// the wire.</summary>
public sealed class MaskTests
{
    private const int Frames = 1_000;

    // Of so many random keys of 32 bits two are the same in one run of 10,000; three pairs never are.
    private const int FewestKeys = Frames - 2;

    [Fact]
    public async Task Each_message_has_a_mask_of_its_own()
    {
        await using var fixture = new StreamFixture();
        (StreamSocket client, RawWebSocket server, uint id) = await RawWebSocket.PairAsync(fixture, weConnect: true);
        var keys = new HashSet<uint>();
        for (int i = 0; i < Frames; i++)
        {
            Assert.True(client.To(id).TrySend("the same"u8));
            Assert.Equal(Wire.Frame("the same"u8), await NextAsync(server, keys));
        }

        Assert.InRange(keys.Count, FewestKeys, Frames);
    }

    [Fact]
    public async Task Each_answer_to_a_PING_and_the_CLOSE_have_a_mask_of_their_own()
    {
        await using var fixture = new StreamFixture();
        (StreamSocket client, RawWebSocket server, uint id) = await RawWebSocket.PairAsync(fixture, weConnect: true);
        var keys = new HashSet<uint>();
        byte[] ping = RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Ping, "the same"u8, masked: false);
        for (int i = 0; i < Frames - 1; i++)
        {
            await server.SendAsync(ping);
            Assert.Equal("the same"u8.ToArray(), await NextAsync(server, keys));
        }

        client.Disconnect(id);
        Assert.Equal([0x03, 0xE8], await NextAsync(server, keys)); // 1000
        Assert.InRange(keys.Count, FewestKeys, Frames);
    }

    [Fact]
    public async Task Each_fragment_of_a_large_message_has_a_mask_of_its_own()
    {
        await using var fixture = new StreamFixture();
        (StreamSocket client, RawWebSocket server, uint id) = await RawWebSocket.PairAsync(fixture, weConnect: true);
        byte[] huge = Wire.Pattern(3_000_000);
        Task sending = client.To(id).SendAsync(huge, Guard.Token).AsTask();
        var keys = new HashSet<uint>();
        byte[] all = [];
        int fragments = 0;
        while (all.Length < huge.Length + Wire.HeaderSize)
        {
            all = [.. all, .. await NextAsync(server, keys)];
            fragments++;
        }

        await sending.Guarded();
        Wire.AssertSame(Wire.Frame(huge), all);
        Assert.InRange(fragments, 10, 1_000);
        Assert.InRange(keys.Count, fragments - 2, fragments);
    }

    [Fact]
    public async Task Each_connection_begins_with_another_mask()
    {
        const int Connections = 20;
        await using var fixture = new StreamFixture();
        var keys = new HashSet<uint>();
        for (int i = 0; i < Connections; i++)
        {
            (StreamSocket client, RawWebSocket server, uint id) = await RawWebSocket.PairAsync(fixture, weConnect: true);
            Assert.True(client.To(id).TrySend("the same"u8));
            await NextAsync(server, keys);
        }

        Assert.InRange(keys.Count, Connections - 2, Connections);
    }

    /// <summary>The next frame's payload; its mask is noted.</summary>
    private static async Task<byte[]> NextAsync(RawWebSocket server, HashSet<uint> keys)
    {
        WebSocketFrame? frame = await server.ReadFrameAsync();
        Assert.True(frame!.IsMasked);
        keys.Add(BinaryPrimitives.ReadUInt32BigEndian(frame.Mask));
        return frame.Payload;
    }
}
