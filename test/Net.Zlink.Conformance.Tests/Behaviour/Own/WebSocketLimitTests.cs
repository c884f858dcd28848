using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Conformance.Tests.Replay.WebSocket;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Own;

/// <summary>The largest ws message, by counting: what no transcript can show, since the native core goes by the header.</summary>
public sealed class WebSocketLimitTests
{
    private const int Fragment = 8 * 1024 * 1024;
    private const int Fragments = 8; // 64 MiB.

    [Fact]
    public async Task A_message_of_64_MiB_is_taken_and_one_of_a_byte_more_is_refused_with_1009()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream(new StreamOptions());
        using RawPeer client = await RawWs.ConnectAsync(server.Bind("ws://127.0.0.1:*"));
        await server.NextConnectedAsync();

        byte[] first = Part(WsOpcode.Binary, isFinal: false);
        byte[] middle = Part(WsOpcode.Continuation, isFinal: false);
        byte[] last = Part(WsOpcode.Continuation, isFinal: true);
        Task sending = SendAsync(client, [first, .. Enumerable.Repeat(middle, Fragments - 2), last]);
        for (int i = 0; i < Fragments; i++)
        {
            Assert.Equal(Fragment - Wire.HeaderSize, await NextLengthAsync(server));
        }

        await sending;

        byte[] oneMore = WsFrame.Write(WsOpcode.Continuation, [0], RawWs.Mask, isFinal: false);
        sending = SendAsync(client, [first, .. Enumerable.Repeat(middle, Fragments - 1), oneMore]);
        for (int i = 0; i < Fragments; i++)
        {
            Assert.Equal(Fragment - Wire.HeaderSize, await NextLengthAsync(server));
        }

        await sending;
        Assert.Equal("880203f1", Convert.ToHexStringLower(await client.ReadToEndAsync()));
        client.EndSending();
        await server.NextDisconnectedAsync();
    }

    /// <summary>A fragment that is one STREAM frame.</summary>
    private static byte[] Part(WsOpcode opcode, bool isFinal) =>
        WsFrame.Write(opcode, Wire.Frame(new byte[Fragment - Wire.HeaderSize]), RawWs.Mask, isFinal);

    private static async Task SendAsync(RawPeer client, IEnumerable<byte[]> parts)
    {
        foreach (byte[] part in parts)
        {
            await client.SendAsync(part);
        }
    }

    private static async Task<int> NextLengthAsync(StreamSocket server)
    {
        using StreamMessage message = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(StreamMessageKind.Data, message.Kind);
        return message.Payload.Length;
    }
}
