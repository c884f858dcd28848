using System.Globalization;
using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Own;

/// <summary>A monitor that nobody reads loses its oldest events and stops nobody; natively it freezes whoever has an event to
/// tell.</summary>
public sealed class MonitorOverflowTests
{
    [Fact]
    public async Task A_monitor_that_nobody_reads_drops_the_oldest_events_and_an_event_counts_them()
    {
        await using var fixture = new StreamFixture();
        DealerSocket dealer = fixture.Context.CreateDealer();
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.Listening | SocketEventTypes.Closed);
        int rounds = (EventStream.Capacity / 2) + 10;
        for (int i = 0; i < rounds; i++)
        {
            string endpoint = dealer.Bind(string.Create(CultureInfo.InvariantCulture, $"ipc://@overflow-{Environment.ProcessId}-{i}"));
            dealer.Unbind(endpoint);
        }

        SocketEvent dropped = await monitor.NextAsync();
        Assert.Equal((SocketEventTypes.EventsDropped, 20), (dropped.Type, dropped.Value));
        SocketEvent first = await monitor.NextAsync();
        Assert.Equal((SocketEventTypes.Listening, $"ipc://@overflow-{Environment.ProcessId}-10"), (first.Type, first.LocalAddress));
    }
}
