using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What is dropped and missed by nobody: told in the books, and nowhere else.</summary>
public sealed class ObsoleteMessagesTests
{
    [Fact]
    public async Task Messages_that_a_newer_one_has_taken_the_place_of_are_no_loss_when_the_peer_leaves()
    {
        var fixture = new ContextFixture();
        DealerSocket sender = fixture.Context.CreateDealer(new DealerOptions { Conflate = true });
        using EventReader monitor = sender.ReadEvents(SocketEventTypes.MessagesDropped | SocketEventTypes.Disconnected);
        string endpoint = sender.Bind("tcp://127.0.0.1:0");
        RawPeer reader = await fixture.ConnectAsync(endpoint);
        await reader.SendAsync(ZmpFixture.DealerGreeting("reader"u8));
        await fixture.UntilAsync(() => sender.GetPeers() is [{ IsConnected: true }]);
        byte[] newest = new byte[8 * 1024];
        SocketStatistics counters;
        do
        {
            Assert.True(sender.TrySend(newest));
            counters = sender.GetStatistics();
        }
        while (counters.ObsoleteMessages < 100);

        newest = [7];
        Assert.True(sender.TrySend(newest));
        while ((await reader.ReadAsync(1))[0] != 7)
        {
            // What was written meanwhile, and at last the newest one.
        }

        await fixture.UntilAsync(() => sender.GetStatistics().QueuedMessages == 0);
        reader.Dispose();
        Assert.Equal(SocketEventTypes.Disconnected, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        await fixture.UntilAsync(() => sender.PeerCount == 0);
        counters = sender.GetStatistics();
        Assert.Equal((counters.DroppedMessages, counters.AcceptedMessages),
            (counters.ObsoleteMessages, counters.WrittenMessages + counters.DroppedMessages));
        ShutdownReport report = await fixture.Context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded();
        Assert.Equal((0, 0), (report.UndeliveredMessages, report.Peers.Count));
        await fixture.DisposeAsync();
        Assert.False(monitor.TryRead(out _));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Topics_that_no_publisher_came_for_are_no_messages_that_were_not_delivered(bool isExtended)
    {
        var fixture = new ContextFixture();
        string endpoint = RawListener.NobodyListens();
        ZmpSocket subscriber;
        if (isExtended)
        {
            XSubSocket xsub = fixture.Context.CreateXSub();
            xsub.Connect(endpoint);
            xsub.Send([1, 5]);
            xsub.Send([0, 5]);
            subscriber = xsub;
        }
        else
        {
            SubSocket sub = fixture.Context.CreateSub();
            sub.Connect(endpoint);
            sub.Subscribe([5]);
            sub.Unsubscribe([5]);
            subscriber = sub;
        }

        using EventReader monitor = subscriber.ReadEvents(SocketEventTypes.MessagesDropped);
        Assert.Equal(2, subscriber.GetStatistics().QueuedMessages);
        subscriber.Dispose();
        ShutdownReport report = await fixture.Context.ShutdownAsync(TimeSpan.FromSeconds(1), Guard.Token).Guarded();
        Assert.Equal((0, 0L, 0), (report.UndeliveredMessages, report.UndeliveredBytes, report.Peers.Count));
        await fixture.DisposeAsync();
        Assert.False(monitor.TryRead(out _));
    }
}
