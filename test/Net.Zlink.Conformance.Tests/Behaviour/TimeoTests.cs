using System.Diagnostics;
using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_timeo. Blocking calls wait by the system's clock, so these waits are real.</summary>
public sealed class TimeoTests
{
    [Fact]
    public async Task A_receive_that_may_not_wait_says_EAGAIN()
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        server.Bind(Link.Any(Link.Tcp));
        SocketWords.Fails("EAGAIN", () => server.Receive(TimeSpan.Zero));
    }

    [Fact]
    public async Task A_receive_waits_for_its_timeout_and_says_EAGAIN()
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer(new DealerOptions { ReceiveTimeout = TimeSpan.FromMilliseconds(250) });
        server.Bind(Link.Any(Link.Tcp));
        long started = Stopwatch.GetTimestamp();
        SocketWords.Fails("EAGAIN", () => server.Receive());
        Assert.True(Stopwatch.GetElapsedTime(started) > TimeSpan.FromMilliseconds(200));
    }

    [Fact]
    public async Task A_send_timeout_does_not_disturb_a_send_that_need_not_wait()
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { SendTimeout = TimeSpan.FromMilliseconds(250) });
        client.Connect(server.Bind(Link.Any(Link.Tcp)));
        client.Send("Hello"u8);
        Assert.Equal("Hello", await server.HearOneAsync());
    }

    [Fact]
    public async Task A_send_without_a_peer_waits_for_its_timeout_and_says_EAGAIN()
    {
        await using var fixture = new StreamFixture();
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { SendTimeout = TimeSpan.FromMilliseconds(250) });
        long started = Stopwatch.GetTimestamp();
        SocketWords.Fails("EAGAIN", () => client.Send("Hello"u8));
        Assert.True(Stopwatch.GetElapsedTime(started) > TimeSpan.FromMilliseconds(200));
    }
}
