using System.Globalization;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

public sealed class ConflatingSubscriberTests
{
    private const int Topics = 50;

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [SlowInlineData("ipc://*")]
    [InlineData("inproc://topics")]
    public async Task Every_topic_of_a_subscriber_that_keeps_the_newest_message_only_reaches_the_publisher(string endpoint)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { Conflate = true });
        Say(Topics, subscriber.Subscribe);
        subscriber.Connect(publisher.Bind(endpoint));
        await fixture.UntilAsync(() => publisher.TopicCount == Topics);
        Say(2 * Topics, subscriber.Subscribe);
        await fixture.UntilAsync(() => publisher.TopicCount == 2 * Topics);
        Say(2 * Topics, subscriber.Unsubscribe);
        await fixture.UntilAsync(() => publisher.TopicCount == Topics);
        Say(Topics, subscriber.Unsubscribe);
        await fixture.UntilAsync(() => publisher.TopicCount == 0);
    }

    private delegate void Change(ReadOnlySpan<byte> topic);

    private static void Say(int count, Change change)
    {
        for (int i = 0; i < count; i++)
        {
            change(Encoding.ASCII.GetBytes(i.ToString("D3", CultureInfo.InvariantCulture)));
        }
    }
}
