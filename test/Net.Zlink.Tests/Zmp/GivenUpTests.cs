using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>An endpoint that is tried no more, and a peer that turns this side away: the application can see why nothing moves.</summary>
public sealed class GivenUpTests
{
    [Fact]
    public async Task A_given_up_endpoint_is_named_in_Describe_and_in_send_errors_until_it_is_connected_again()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        string endpoint = publisher.Bind("tcp://127.0.0.1:0");
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero, ReconnectAfterFault = false });
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.ConnectGivenUp);
        dealer.Connect(endpoint); // A PUB is nobody for a DEALER to talk to.
        SocketEvent givenUp = await monitor.ReadAsync(Guard.Token).Guarded();
        await fixture.UntilAsync(() => dealer.GetPeers().Count == 0);
        Assert.Contains($"given up: {endpoint}: ", dealer.Describe(), StringComparison.Ordinal);
        TimeoutException refused = Assert.Throws<TimeoutException>(() => dealer.Send("x"u8, TimeSpan.FromMilliseconds(1)));
        Assert.Contains($"{endpoint} was given up: ", refused.Message, StringComparison.Ordinal);
        Assert.Contains("socket type mismatch", refused.Message, StringComparison.Ordinal);
        Assert.Contains("socket type mismatch", givenUp.Detail, StringComparison.Ordinal);

        publisher.Dispose();
        await publisher.DisposeAsync();
        DealerSocket server = fixture.Context.CreateDealer();
        server.Bind(endpoint);
        dealer.Connect(endpoint);
        dealer.Send("x"u8);
        using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.DoesNotContain("given up", dealer.Describe(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Only_the_latest_are_kept()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { ReconnectAfterFault = false });
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.ConnectGivenUp);
        string[] endpoints = [.. Enumerable.Range(0, 18).Select(_ => publisher.Bind("tcp://127.0.0.1:0"))];
        foreach (string endpoint in endpoints)
        {
            dealer.Connect(endpoint);
            await monitor.ReadAsync(Guard.Token).Guarded();
        }

        string text = dealer.Describe();
        Assert.Equal([.. Enumerable.Repeat(false, 2), .. Enumerable.Repeat(true, 16)],
            endpoints.Select(endpoint => text.Contains($"{endpoint}:", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Given_up_endpoints_that_differ_in_the_query_only_are_kept_apart_and_shown_without_it()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        string endpoint = publisher.Bind("ws://127.0.0.1:0/path");
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero, ReconnectAfterFault = false });
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.ConnectGivenUp);
        foreach (string token in new[] { "one", "two" })
        {
            dealer.Connect($"{endpoint}?token={token}");
            await monitor.ReadAsync(Guard.Token).Guarded();
        }

        Assert.Equal(2, CountGivenUp());
        Assert.DoesNotContain("token", dealer.Describe(), StringComparison.Ordinal);
        await publisher.DisposeAsync();
        dealer.Connect($"{endpoint}?token=one");
        Assert.Equal(1, CountGivenUp());

        int CountGivenUp() => dealer.Describe().Split($"given up: {endpoint}?").Length - 1;
    }

    [Fact]
    public async Task A_peer_that_ends_each_connection_right_behind_the_handshake_is_suspected_of_having_no_place()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        DealerSocket first = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "same"u8.ToArray() });
        first.Connect(endpoint);
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("same"), out _));
        DealerSocket second = fixture.Context.CreateDealer(
            new DealerOptions { RoutingId = "same"u8.ToArray(), ReconnectInterval = TimeSpan.FromMilliseconds(1), Linger = TimeSpan.Zero });
        using EventReader monitor = second.ReadEvents(SocketEventTypes.ConnectRetried);
        second.Connect(endpoint);
        for (int i = 1; i <= 3; i++)
        {
            SocketEvent retried = await monitor.ReadAsync(Guard.Token).Guarded();
            Assert.Equal(i == 3, retried.Detail!.Contains("its routing id is in use there", StringComparison.Ordinal));
        }
    }

    [Fact]
    public async Task A_given_up_endpoint_can_be_connected_again_from_its_own_log_message()
    {
        using var log = new RecordingLoggers();
        await using var fixture = new ContextFixture(log: log);
        RawListener listener = fixture.Listen();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero, ReconnectAfterFault = false });
        log.Told = text =>
        {
            if (text.Contains("gave up connecting", StringComparison.Ordinal))
            {
                log.Told = null;
                dealer.Connect(listener.Endpoint);
            }
        };
        dealer.Connect(listener.Endpoint);
        using RawPeer first = await listener.AcceptAsync();
        await first.SendAsync("HTTP/1.1 400 Bad Request\r\n\r\n"u8.ToArray());
        using RawPeer second = await listener.AcceptAsync();
        Assert.Equal([listener.Endpoint], dealer.ConnectedEndpoints);
    }

    [Fact]
    public async Task A_given_up_endpoint_names_the_foreign_protocol_that_its_peer_seems_to_speak()
    {
        await using var fixture = new ContextFixture();
        RawListener listener = fixture.Listen();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero, ReconnectAfterFault = false });
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.ConnectGivenUp);
        dealer.Connect(listener.Endpoint);
        using RawPeer peer = await listener.AcceptAsync();
        await peer.SendAsync("HTTP/1.1 400 Bad Request\r\n\r\n"u8.ToArray());
        SocketEvent givenUp = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Contains("it looks like HTTP", givenUp.Detail, StringComparison.Ordinal);
    }
}
