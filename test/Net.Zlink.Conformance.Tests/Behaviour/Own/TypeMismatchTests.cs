using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Own;

/// <summary>Two socket types that do not talk to each other.</summary>
public sealed class TypeMismatchTests
{
    [Theory]
    [MemberData(nameof(Link.Wires), MemberType = typeof(Link))]
    public async Task Both_sides_disconnect_with_reason_3_and_the_connecter_gives_up(string transport)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        string endpoint = pub.Bind(Link.Any(transport));
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero, ReconnectAfterFault = false });
        using EventReader binder = pub.ReadEvents(NativeEvents.All);
        using EventReader connecter = dealer.ReadEvents(NativeEvents.All);
        dealer.Connect(endpoint);
        Assert.Equal([SocketEventTypes.ConnectDelayed, SocketEventTypes.Connected], await connecter.NextAsync(2));
        SocketEvent gone = await connecter.NextAsync();
        Assert.Equal((SocketEventTypes.Disconnected, 3L), (gone.Type, gone.ToNativeValue()));
        Assert.Equal(SocketEventTypes.Accepted, (await binder.NextAsync()).Type);
        gone = await binder.NextAsync();
        Assert.Equal((SocketEventTypes.Disconnected, 3L), (gone.Type, gone.ToNativeValue()));

        await fixture.UntilAsync(() => dealer.PeerCount == 0);
        connecter.IsSilent();
        binder.IsSilent();
        Assert.Equal(0, pub.PeerCount);

        // The endpoint is given up, so that it can be connected anew.
        dealer.Connect(endpoint);
        Assert.Equal(SocketEventTypes.ConnectDelayed, (await connecter.NextAsync()).Type);
        dealer.Dispose();
    }

    [Fact]
    public async Task An_inproc_connect_to_another_type_is_refused()
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        string endpoint = pub.Bind(Link.Any(Link.Inproc));
        DealerSocket dealer = fixture.Context.CreateDealer();
        SocketWords.Fails("ENOCOMPATPROTO", () => dealer.Connect(endpoint));
        Assert.Equal(0, dealer.PeerCount);
    }
}
