using System.Globalization;
using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Topics that change faster than a publisher hears of them, which reads nonetheless.</summary>
public sealed class BusyTopicsTests
{
    // What may wait for a publisher that reads nothing: docs/protocol.md, section 15.
    private const int MostUnread = 100_000;

    [Fact]
    public async Task A_publisher_that_reads_more_slowly_than_topics_change_keeps_its_connection()
    {
        await using var fixture = new ContextFixture();
        RawListener listener = fixture.Listen();
        SubSocket subscriber = fixture.Context.CreateSub();
        using EventReader monitor = subscriber.ReadEvents(SocketEventTypes.Disconnected);
        subscriber.Connect(listener.Endpoint);
        using RawPeer publisher = await listener.AcceptAsync();
        await publisher.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Pub));
        await fixture.UntilAsync(() => subscriber.GetPeers().Single().IsConnected);
        string filler = new('x', 100);
        int changes = 0;
        while (subscriber.GetStatistics().QueuedMessages <= MostUnread + 1000)
        {
            byte[] topic = Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{changes++:D8}{filler}"));
            subscriber.Subscribe(topic);
            subscriber.Unsubscribe(topic);
            if (changes % 100 == 0)
            {
                await publisher.ReadAsync(8192); // It reads, and is slower than that.
            }
        }

        subscriber.Subscribe("last"u8);
        byte[] all = new byte[1 << 20];
        byte[] tail = [];
        while (tail.AsSpan().IndexOf("last"u8) < 0)
        {
            int read = await publisher.Socket.ReceiveAsync(all, Guard.Token).AsTask().Guarded();
            Assert.NotEqual(0, read);
            tail = [.. tail.AsSpan(Math.Max(0, tail.Length - 8)), .. all.AsSpan(0, read)];
        }

        Assert.False(monitor.TryRead(out _));
    }
}
