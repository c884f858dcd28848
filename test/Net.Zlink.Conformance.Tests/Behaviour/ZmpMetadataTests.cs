using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_zmp_metadata: properties of a connection, a bad HELLO, and the time a peer's heartbeat allows.</summary>
public sealed class ZmpMetadataTests
{
    [Theory]
    [MemberData(nameof(Link.Wires), MemberType = typeof(Link))]
    public async Task A_client_that_sends_metadata_tells_its_socket_type(string transport)
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair(new PairOptions { SendMetadata = true });
        client.Connect(server.Bind(Link.Any(transport)));
        client.Say("Hello");
        using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(message.TryGetProperty("Socket-Type", out string? type));
        Assert.Equal("PAIR", type);
    }

    [Theory]
    [MemberData(nameof(Link.Wires), MemberType = typeof(Link))]
    public async Task A_client_that_sends_none_tells_nothing(string transport)
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind(Link.Any(transport)));
        client.Say("Hello");
        using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.False(message.TryGetProperty("Socket-Type", out string? _));
    }

    [Fact]
    public async Task A_HELLO_with_another_magic_is_answered_with_ERROR_1()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        string endpoint = server.Bind(Link.Any(Link.Tcp));
        RawPeer client = await fixture.ConnectAsync(endpoint);
        byte[] hello = RawZmp.Hello(RawZmp.Pair, "");
        hello[0] = 0x00;
        await client.SendAsync(hello);
        Assert.Equal(0x01, (await client.ReadControlAsync(RawZmp.Error))[1]);
    }

    [Fact]
    public async Task The_shorter_of_both_times_to_live_ends_a_connection_that_falls_silent()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        PairSocket server = fixture.Context.CreatePair(new PairOptions { HeartbeatTtl = TimeSpan.FromMilliseconds(300) });
        string endpoint = server.Bind(Link.Any(Link.Tcp));
        using EventReader monitor = server.ReadEvents(SocketEventTypes.Disconnected);
        RawPeer client = await fixture.ConnectAsync(endpoint);
        await client.SendAsync((byte[])[.. RawZmp.Greeting(RawZmp.Pair, ""), .. RawZmp.Heartbeat(20)]);
        await client.ReadControlAsync(0x03); // Its answer: the timer is set.
        await fixture.Context.WhenIdleAsync().Guarded();
        time.Advance(TimeSpan.FromMilliseconds(299));
        await fixture.SettleAsync();
        monitor.IsSilent();
        time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal(0x7F, (await client.ReadControlAsync(RawZmp.Error))[1]);
        Assert.Equal(4, (await monitor.NextAsync()).ToNativeValue());
    }
}
