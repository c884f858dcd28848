using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What a wait says whose time has passed: what is wrong, where the socket can tell.</summary>
public sealed class TimeoutHintTests
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(1);

    [Fact]
    public async Task A_socket_that_was_never_bound_or_connected_says_so()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer();
        Assert.Contains("neither bound nor connected", ReceiveError(dealer), StringComparison.Ordinal);
        Assert.Contains("neither bound nor connected", SendError(dealer), StringComparison.Ordinal);
        dealer.Bind("inproc://later");
        Assert.Contains("no peer is connected", ReceiveError(dealer), StringComparison.Ordinal);
        Assert.Contains("no peer is connected", SendError(dealer), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_SUB_without_a_topic_says_so()
    {
        await using var fixture = new ContextFixture();
        SubSocket sub = fixture.Context.CreateSub();
        sub.Connect(fixture.Context.CreatePub().Bind("inproc://prices"));
        Assert.Contains("no topic", ReceiveError(sub), StringComparison.Ordinal);
        sub.Subscribe("EUR");
        Assert.DoesNotContain("no topic", ReceiveError(sub), StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_endpoint_where_nobody_listens_is_named()
    {
        await using var fixture = new ContextFixture();
        string endpoint = RawListener.NobodyListens();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero, SendHighWaterMark = 1 });
        dealer.Connect(endpoint);
        await fixture.UntilAsync(() => dealer.GetPeers()[0].WhyNotConnected is not null);
        Assert.Contains($"{endpoint} is not connected: no process listens", ReceiveError(dealer), StringComparison.Ordinal);
        dealer.Send("waits"u8);
        Assert.Contains($"{endpoint} is not connected: no process listens", SendError(dealer), StringComparison.Ordinal);
        dealer.Connect("inproc://nobody");
        dealer.Disconnect(endpoint);
        await fixture.UntilAsync(() => dealer.PeerCount == 1);
        Assert.Contains("inproc://nobody is not connected: no socket", ReceiveError(dealer), StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_endpoint_that_was_given_up_is_named()
    {
        await using var fixture = new ContextFixture();
        string endpoint = fixture.Context.CreateRouter().Bind("tcp://127.0.0.1:0");
        SubSocket sub = fixture.Context.CreateSub(new SubOptions { ReconnectAfterFault = false }); // A ROUTER is nobody for a SUB to hear.
        sub.Subscribe("");
        using EventReader monitor = sub.ReadEvents(SocketEventTypes.ConnectGivenUp);
        sub.Connect(endpoint);
        await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Contains($"{endpoint} was given up: the peer broke the protocol: socket type mismatch", ReceiveError(sub),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_receive_timeout_of_a_healthy_socket_gives_no_hint()
    {
        await using var fixture = new ContextFixture();
        (DealerSocket _, DealerSocket receiver) = fixture.Context.CreateConnectedDealers();
        await fixture.UntilAsync(() => receiver.PeerCount == 1);
        Assert.Equal("no message came within 1 ms", ReceiveError(receiver));
    }

    private static string ReceiveError(ReceivingSocket socket) => MessageOf(() => socket.Receive(Short).Dispose());

    private static string SendError(DealerSocket socket) => MessageOf(() => socket.Send("x"u8, Short));

    private static string MessageOf(Action act)
    {
        return Assert.Throws<TimeoutException>(act).Message;
    }
}
