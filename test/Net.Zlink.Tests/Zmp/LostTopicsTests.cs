using System.Globalization;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A subscriber with very many topics leaves an XPUB.</summary>
public sealed class LostTopicsTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Their_cancels_are_read_one_by_one_and_lie_packed_until_then(bool isManual)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { Manual = isManual, ReceiveHighWaterMark = 0 });
        publisher.Bind("inproc://topics");
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Connect("inproc://topics");

        // In ascending order, as they will be read; some are longer than what others share.
        string[] topics = [.. Enumerable.Range(0, 5_000).Select(static i => string.Create(CultureInfo.InvariantCulture, $"{i:D5}") + new string('x', i % 500 == 0 ? 5_000 : i % 20))];
        foreach (string topic in topics)
        {
            subscriber.Subscribe(Encoding.ASCII.GetBytes(topic));
            using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(1, notice.Span[0]);
        }

        long before = fixture.Pool.GetOutstanding().Count;
        subscriber.Dispose();
        await fixture.UntilAsync(() => publisher.PeerCount == 0);
        Assert.InRange(fixture.Pool.GetOutstanding().Count - before, 1, topics.Length / 20);
        foreach (string topic in topics)
        {
            using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal("\0" + topic, Encoding.ASCII.GetString(notice.Span));
        }

        Assert.False(publisher.TryReceive(out _));
        Assert.Equal(0, publisher.TopicCount);
    }
}
