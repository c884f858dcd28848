using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

public sealed class StoppedReaderTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(5)]
    public async Task A_reader_that_stops_for_ten_times_its_heartbeat_timeout_loses_neither_its_connection_nor_a_message(
        int heartbeatsBefore)
    {
        const int Messages = 5_000; // of 100 bytes: more than the mark and one read
        var clock = new ManualTimeProvider();
        var interval = TimeSpan.FromMilliseconds(100);
        TimeSpan timeout = TimeSpan.FromMilliseconds(1_000);
        await using var fixture = new ContextFixture(time: clock);
        DealerSocket reader = fixture.Context.CreateDealer(new DealerOptions
        {
            ReceiveHighWaterMark = 10,
            HeartbeatInterval = interval,
            HeartbeatTimeout = timeout,
            HeartbeatTtl = timeout,
            Linger = TimeSpan.Zero,
        });
        DealerSocket sender = fixture.Context.CreateDealer(
            new DealerOptions { HeartbeatInterval = interval, HeartbeatTimeout = timeout, HeartbeatTtl = timeout, Linger = TimeSpan.Zero });
        sender.Connect(reader.Bind("tcp://127.0.0.1:0"));
        await fixture.UntilAsync(() => reader.GetPeers().Concat(sender.GetPeers()).Count(static p => p.IsConnected) == 2);
        using EventReader here = reader.ReadEvents(SocketEventTypes.Disconnected);
        using EventReader there = sender.ReadEvents(SocketEventTypes.Disconnected);
        await PassAsync(fixture, clock, heartbeatsBefore * interval);
        for (int i = 0; i < Messages; i++)
        {
            sender.Send(Wire.Pattern(100, i));
        }

        await fixture.UntilAsync(() => reader.GetPeers()[0].IsPaused);
        await PassAsync(fixture, clock, 10 * timeout);
        Assert.False(here.TryRead(out SocketEvent lost), lost.Detail);
        Assert.False(there.TryRead(out lost), lost.Detail);
        for (int i = 0; i < Messages; i++)
        {
            using Message message = await reader.ReceiveAsync(Guard.Token).Guarded();
            Wire.AssertSame(Wire.Pattern(100, i), message.Span.ToArray());
        }

        reader.Send("read all"u8);
        (await sender.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        await PassAsync(fixture, clock, 5 * timeout);
        Assert.False(here.TryRead(out _));
        Assert.False(there.TryRead(out _));
        Assert.Equal((1L, 1L), (reader.GetStatistics().AcceptedConnections, sender.GetStatistics().DialledConnections));
    }

    /// <summary>Lets time pass in steps that are shorter than any of the clocks concerned, and everything be done that is due.</summary>
    private static async Task PassAsync(ContextFixture fixture, ManualTimeProvider clock, TimeSpan time)
    {
        var step = TimeSpan.FromMilliseconds(50);
        for (TimeSpan passed = TimeSpan.Zero; passed < time; passed += step)
        {
            clock.Advance(step);
            await fixture.SettleAsync();
        }
    }
}
