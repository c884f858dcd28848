using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>Two types that do not talk to each other: this side's people are told which, the peer gets the bytes that the native core
/// sends.</summary>
public sealed class TypeMismatchTests
{
    // ERROR, code 05, "socket type mismatch".
    private const string Error = "5a 01 02 00 00 00 00 17 05 05 14 73 6f 63 6b 65 74 20 74 79 70 65 20 6d 69 73 6d 61 74 63 68";

    [Fact]
    public async Task The_side_that_connects_says_what_it_is_what_the_peer_is_and_whom_it_talks_to()
    {
        await using var context = new ZlinkContext();
        using SubSocket sub = context.CreateSub(new SubOptions { ReconnectAfterFault = false });
        using EventReader monitor = sub.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.ConnectGivenUp);
        using var listener = new RawListener();
        sub.Connect(listener.Endpoint);
        using RawPeer peer = await listener.AcceptAsync();
        await peer.SendAsync(ZmpFixture.Control("01 06 01 41"));

        Assert.Equal(
            "protocol fault: code 05, socket type mismatch: this side is SUB, the peer ROUTER; SUB is compatible with PUB and XPUB",
            (await monitor.ReadAsync(Guard.Token).Guarded()).Detail);
        Assert.StartsWith(
            "the peer broke the protocol: socket type mismatch: this side is SUB, the peer ROUTER; SUB is compatible with PUB and "
            + "XPUB;", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_side_that_listens_says_so_too_and_the_peer_gets_the_native_bytes()
    {
        await using var context = new ZlinkContext();
        using PairSocket pair = context.CreatePair(new PairOptions { RoutingId = "P"u8.ToArray() });
        using EventReader monitor = pair.ReadEvents(SocketEventTypes.Disconnected);
        using RawPeer peer = await RawPeer.ConnectAsync(pair.Bind("tcp://127.0.0.1:0"));
        await peer.SendAsync(ZmpFixture.Control("01 0b 00")); // A STREAM, which speaks no ZMP.

        Assert.Equal("protocol fault: code 05, socket type mismatch: this side is PAIR, the peer type 11; PAIR is compatible with PAIR",
            (await monitor.ReadAsync(Guard.Token).Guarded()).Detail);
        byte[] greeting = [.. ZmpFixture.Control("01 00 01 50"), .. ZmpFixture.Hex(ZmpFixture.Ready)];
        Assert.Equal((byte[])[.. greeting, .. ZmpFixture.Hex(Error)], await peer.ReadToEndAsync());
    }
}
