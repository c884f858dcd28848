using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A context in which one socket sends to another ends as soon as nobody is left who could take anything.</summary>
public sealed class OwnEndpointTests
{
    private const string Tcp = "tcp://127.0.0.1:0";
    private const string Ipc = "ipc://*";

    [Theory]
    [InlineData(Tcp, false)]
    [InlineData(Tcp, true)]
    [InlineData(Ipc, false)]
    [InlineData(Ipc, true)]
    public async Task Messages_to_a_listener_of_the_same_context_do_not_delay_the_end_of_the_context(string endpoint, bool disposesFirst)
    {
        Assert.SkipUnless(string.Equals(endpoint, Tcp, StringComparison.Ordinal) || System.Net.Sockets.Socket.OSSupportsUnixDomainSockets,
            "NOT TESTED HERE: this system has no Unix domain sockets");
        for (int i = 0; i < 10; i++)
        {
            await using var fixture = new ContextFixture();
            RouterSocket router = fixture.Context.CreateRouter();
            DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = Timeout.InfiniteTimeSpan });
            dealer.Connect(router.Bind(endpoint));
            dealer.Send("x"u8); // Its handshake is not through yet.
            if (disposesFirst)
            {
                dealer.Dispose();
                router.Dispose();
            }

            ShutdownReport report = await fixture.Context.ShutdownAsync(Timeout.InfiniteTimeSpan, Guard.Token).Guarded();
            Assert.True(report.Drained);
        }
    }

    [Fact]
    public async Task Undelivered_messages_are_in_the_text_of_the_shutdown_report()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = Timeout.InfiniteTimeSpan });
        string endpoint = router.Bind(Tcp);
        await router.DisposeAsync();
        dealer.Connect(endpoint);
        dealer.Send("x"u8);
        ShutdownReport report = await fixture.Context.ShutdownAsync(Timeout.InfiniteTimeSpan, Guard.Token).Guarded();
        Assert.Equal((1, 9), (report.UndeliveredMessages, report.UndeliveredBytes));
        Assert.Contains($"1 messages (9 bytes) not delivered\n  {endpoint}: 1 messages (9 bytes)", report.ToString(),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_endpoint_that_another_socket_of_the_context_listens_at_again_is_delivered_to()
    {
        await using var fixture = new ContextFixture();
        RouterSocket first = fixture.Context.CreateRouter();
        string endpoint = first.Bind(Tcp);
        await first.DisposeAsync();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Connect(endpoint);
        dealer.Send("x"u8);
        RouterSocket second = fixture.Context.CreateRouter();
        second.Bind(endpoint);
        using Message message = await second.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("x"u8, message.Span);
    }

    [Fact]
    public void An_event_is_a_line_in_words()
    {
        var dropped = new SocketEvent(SocketEventTypes.MessagesDropped, 4, default, "tcp://127.0.0.1:1", "tcp://127.0.0.1:2", 0,
            "not sent")
        { PeerRoutingId = "ann"u8.ToArray() };
        Assert.Equal("MessagesDropped at tcp://127.0.0.1:1, peer tcp://127.0.0.1:2 ann, value 4: not sent", dropped.ToString());
        Assert.Equal("MonitorStopped, value 0", new SocketEvent(SocketEventTypes.MonitorStopped, 0, default, "", "", 0, null).ToString());
        Assert.Equal("Accepted, peer tcp://a number 7, value 5",
            new SocketEvent(SocketEventTypes.Accepted, 5, default, "", "tcp://a", 7, null).ToString());
    }
}
