using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>How long a connecter waits after an ERROR that a timer of its peer caused.</summary>
public sealed class ReconnectAfterErrorTests
{
    private const string InternalError = "5A01020000000011057F0E696E7465726E616C206572726F72";

    private readonly ManualTimeProvider _clock = new();

    [Theory]
    [InlineData(true, 30, 0, "200 200 200 200")] // Each time it was ready for as long as the longest pause: nothing to be patient about.
    [InlineData(true, 29, 0, "200 400 800 1600")] // As a subscriber of too many topics, whose publisher has told it so each time.
    [InlineData(false, 0, 0, "200 400 800 1600")]
    [InlineData(false, 0, 300, "200 300 300 300")] // No longer than the user wants.
    public async Task Grows_while_the_peer_stays_in_trouble(bool getsReady, int readyFor, int longest, string pauses)
    {
        await using var fixture = new ContextFixture(time: _clock);
        using RawListener listener = fixture.Listen();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { ReconnectIntervalMax = TimeSpan.FromMilliseconds(longest) });
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectionReady);
        dealer.Connect(listener.Endpoint);
        foreach (string pause in pauses.Split(' '))
        {
            using (RawPeer peer = await listener.AcceptAsync())
            {
                await peer.SendAsync(getsReady ? ZmpFixture.Greeting((byte)ZmpSocketType.Router)
                    : ZmpFixture.Frame(2, [1, (byte)ZmpSocketType.Router, 0]));
                if (getsReady)
                {
                    await monitor.NextAsync(SocketEventTypes.ConnectionReady);
                    _clock.Advance(TimeSpan.FromSeconds(readyFor));
                }

                await peer.SendAsync(Convert.FromHexString(InternalError));
                SocketEvent retried = await monitor.NextAsync(SocketEventTypes.ConnectRetried);
                Assert.Equal(pause, $"{retried.Value}");
            }

            _clock.Advance(TimeSpan.FromSeconds(2));
        }
    }
}
