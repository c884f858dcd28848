using System.Buffers.Binary;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>A frame of ours that is longer than one WebSocket message should be: a native peer takes 64 MiB and no more.</summary>
public sealed class LongFrameTests
{
    private const int Length = 40 * 1024 * 1024;

    // 32 MiB and the write that goes past it.
    private const int LongestMessage = (32 * 1024 * 1024) + (256 * 1024);

    [Fact]
    public async Task A_frame_of_40_MiB_arrives_in_WebSocket_messages_well_below_64_MiB()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        RawWebSocket peer = fixture.Own(await RawWebSocket.ConnectAsync(server.Bind("ws://127.0.0.1:0")));
        uint id = await server.NextConnectedAsync();
        byte[] payload = Wire.Pattern(Length);
        Task sending = server.To(id).SendAsync(payload, Guard.Token).Guarded();
        byte[] arrived = new byte[sizeof(int) + Length];
        int have = 0;
        int message = 0;
        int messages = 0;
        while (have < arrived.Length)
        {
            WebSocketFrame frame = (await peer.ReadFrameAsync())!;
            // 0: a fragment of the message before (RFC 6455, 5.4).
            Assert.Equal(message == 0 ? RawWebSocket.Binary : 0, frame.First & 0x0F);
            frame.Payload.CopyTo(arrived, have);
            have += frame.Payload.Length;
            message += frame.Payload.Length;
            Assert.InRange(message, 0, LongestMessage);
            if ((frame.First & RawWebSocket.Fin) != 0)
            {
                messages++;
                message = 0;
            }
        }

        await sending;
        Assert.Equal((0, 2), (message, messages));
        Assert.Equal(Length, BinaryPrimitives.ReadInt32BigEndian(arrived));
        Assert.True(payload.AsSpan().SequenceEqual(arrived.AsSpan(sizeof(int))));
    }
}
