using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>How many topics one subscriber may hold at a publisher.</summary>
public sealed class TopicLimitTests
{
    // 640 bytes and twice the topic's four are counted for each: 64 MiB, the default, pay for 103,563.
    private const int Many = 110_000;

    [Fact]
    public async Task Without_a_receive_byte_limit_there_is_none()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { ReceiveByteLimit = 0 });
        SubSocket subscriber = fixture.Context.CreateSub();
        for (int i = 0; i < Many; i++)
        {
            subscriber.Subscribe(BitConverter.GetBytes(i));
        }

        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));

        await fixture.UntilAsync(() => publisher.TopicCount == Many);
    }

    [Fact]
    public async Task In_one_process_there_is_none()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ReceiveByteLimit = 1 });
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Connect(publisher.Bind("inproc://topics"));

        subscriber.Subscribe("a");

        Assert.Equal(1, publisher.TopicCount);
    }

    [Fact]
    public async Task The_limit_may_be_reached_and_not_passed()
    {
        // 640 bytes and twice the topic's one, ten times.
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { ReceiveByteLimit = 6_420 });
        SubSocket subscriber = fixture.Context.CreateSub();
        for (byte i = 0; i < 10; i++)
        {
            subscriber.Subscribe([i]);
        }

        using SocketMonitor monitor = publisher.OpenMonitor(SocketEventTypes.Disconnected);
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));
        await fixture.UntilAsync(() => publisher.TopicCount == 10 || monitor.TryRead(out _));
        Assert.Equal(10, publisher.TopicCount);
        subscriber.Subscribe([10]);
        Assert.Contains("too many topics", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_subscriber_of_too_many_is_told_why_and_comes_again_once_the_publisher_allows_more(bool isExtended)
    {
        await using var fixture = new ContextFixture();
        ZlinkSocket publisher = isExtended ? fixture.Context.CreateXPub(new XPubOptions { ReceiveByteLimit = 2_000 }) : fixture.Context.CreatePub(new PubOptions { ReceiveByteLimit = 2_000 });
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReconnectInterval = TimeSpan.FromMilliseconds(10) });
        for (byte i = 0; i < 10; i++)
        {
            subscriber.Subscribe([i]);
        }

        using SocketMonitor here = publisher.OpenMonitor();
        using SocketMonitor there = subscriber.OpenMonitor();
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));

        Assert.Contains("too many topics", (await here.NextAsync(SocketEventTypes.Disconnected)).Detail, StringComparison.Ordinal);
        Assert.Contains("ReceiveByteLimit", (await there.NextAsync(SocketEventTypes.Disconnected)).Detail, StringComparison.Ordinal);
        publisher.Options.ReceiveByteLimit = 0;
        await fixture.UntilAsync(() => ((publisher as PubSocket)?.TopicCount ?? ((XPubSocket)publisher).TopicCount) == 10);
    }
}
