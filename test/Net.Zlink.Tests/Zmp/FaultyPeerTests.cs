using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A peer breaks the protocol, or goes, in the middle of what it says.</summary>
public sealed class FaultyPeerTests
{
    private const byte More = 1;
    private const byte Error = 5;

    // A flag that no version of the protocol has.
    private static readonly byte[] s_fault = ZmpFixture.Frame(0x80, []);

    [Theory]
    [InlineData("5A01800000000000")] // a flag that there is not
    [InlineData("5A0102000000000104")] // a second READY
    public async Task The_messages_that_come_in_front_of_a_fault_in_the_same_read_are_received(string fault)
    {
        await using var fixture = new ContextFixture();
        (PairSocket pair, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, new PairOptions());
        await peer.SendAsync((byte[])[.. ZmpFixture.Frame(0, "first"u8), .. ZmpFixture.Frame(More, "second"u8),
            .. ZmpFixture.Frame(0, "whole"u8), .. ZmpFixture.Frame(More, "third"u8), .. Convert.FromHexString(fault)]);
        await monitor.NextAsync(SocketEventTypes.Disconnected);
        foreach (int parts in (int[])[1, 2])
        {
            using Message message = await pair.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(parts, message.PartCount);
        }

        Assert.False(pair.CanReceive);
    }

    [Fact]
    public async Task The_ERROR_is_the_last_that_it_hears_whatever_waits_for_it()
    {
        const int Messages = 200;
        await using var fixture = new ContextFixture();
        (PairSocket pair, RawPeer peer, EventReader monitor) =
            await OpenAsync(fixture, new PairOptions { SendBufferSize = 16 * 1024 }, receiveBuffer: 16 * 1024);
        for (int i = 0; i < Messages; i++)
        {
            pair.Send(new byte[10_000]);
        }

        await peer.SendAsync(s_fault);
        await monitor.NextAsync(SocketEventTypes.Disconnected); // Before it reads: or all of them might be gone by then.
        ReadOnlyMemory<byte> all = await peer.ReadToEndAsync();
        int messages = 0;
        byte[] last = [];
        while (!all.IsEmpty)
        {
            Assert.NotEqual(Error, last.FirstOrDefault());
            ReadOnlySpan<byte> frames = all.Span;
            ReadOnlySpan<byte> body = ZmpFixture.Next(ref frames, out ZmpFlags flags);
            messages += flags == ZmpFlags.None ? 1 : 0;
            last = flags == ZmpFlags.Control ? body.ToArray() : [];
            all = all[^frames.Length..];
        }

        Assert.Equal(Error, last.FirstOrDefault());
        Assert.InRange(messages, 0, Messages - 1);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_message_of_as_many_parts_as_are_let_in_is_received_and_one_of_one_more_ends_the_connection(bool inPieces)
    {
        await using var fixture = new ContextFixture();
        (PairSocket pair, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, new PairOptions { MaxMessageParts = 3 });
        await SendAsync(ZmpFixture.Frame(More, "a"u8), ZmpFixture.Frame(More, "b"u8), ZmpFixture.Frame(0, "c"u8));
        using (Message message = await pair.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal(3, message.PartCount);
        }

        await SendAsync(ZmpFixture.Frame(More, "a"u8), ZmpFixture.Frame(More, "b"u8), ZmpFixture.Frame(More, "c"u8),
            ZmpFixture.Frame(0, "d"u8));
        await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.False(pair.CanReceive);

        async Task SendAsync(params byte[][] frames)
        {
            foreach (byte[] bytes in inPieces ? frames : [[.. frames.SelectMany(static f => f)]])
            {
                await peer.SendAsync(bytes);
                await fixture.SettleAsync();
            }
        }
    }

    [Theory]
    [InlineData(2)] // READY
    [InlineData(0)] // data
    public async Task A_peer_that_announces_a_frame_over_64_KiB_in_place_of_its_READY_is_refused_on_the_header(byte flags)
    {
        await using var fixture = new ContextFixture();
        PairSocket pair = fixture.Context.CreatePair();
        RawPeer peer = await fixture.ConnectAsync(pair.Bind("tcp://127.0.0.1:0"));
        byte[] greeting = ZmpFixture.Greeting((byte)ZmpSocketType.Pair);
        byte[] hello = greeting[..^ZmpFixture.Hex(ZmpFixture.Ready).Length];
        byte[] header = ZmpFixture.Frame(flags, new byte[ZmpInbound.LargestControlBody + 1])[..ZmpFrame.HeaderSize];
        await peer.SendAsync((byte[])[.. hello, .. header]);
        byte[] answer = await peer.ReadToEndAsync();
        Assert.EndsWith("body too large", Encoding.ASCII.GetString(answer), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(100_000)]
    public async Task Of_a_message_that_it_leaves_unfinished_nothing_is_left(int size)
    {
        await using var fixture = new ContextFixture();
        (PairSocket pair, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, new PairOptions());
        for (int i = 0; i < 2; i++)
        {
            await peer.SendAsync(ZmpFixture.Frame(More, new byte[size]));
            await fixture.SettleAsync();
        }

        peer.EndSending();
        await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.False(pair.CanReceive);
        await peer.ReadToEndAsync();
        // And the pool is looked at where the test ends.
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().UnfinishedBytes == 0);
    }

    private static async Task<(PairSocket Pair, RawPeer Peer, EventReader Monitor)> OpenAsync(
        ContextFixture fixture, PairOptions options, int receiveBuffer = 0)
    {
        PairSocket pair = fixture.Context.CreatePair(options);
        EventReader monitor = fixture.Own(pair.ReadEvents(SocketEventTypes.Disconnected));
        RawPeer peer = await fixture.ConnectAsync(pair.Bind("tcp://127.0.0.1:0"), receiveBuffer);
        peer.Socket.NoDelay = true;
        await peer.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Pair));
        await fixture.UntilAsync(() => pair.GetPeers() is [{ IsConnected: true }]);
        return (pair, peer, monitor);
    }
}
