using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What an XPUB sends to each new peer first.</summary>
public sealed class WelcomeTests
{
    [Fact]
    public async Task A_publisher_that_connects_sends_it_once_however_often_it_connects()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(
            new XPubOptions { WelcomeMessage = "welcome"u8.ToArray(), ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        SubSocket first = fixture.Context.CreateSub();
        first.Subscribe("");
        string endpoint = first.Bind("tcp://127.0.0.1:0");
        publisher.Connect(endpoint);
        await AssertNextAsync(first, "welcome");
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        first.Dispose();
        await fixture.UntilAsync(() => !publisher.GetPeers()[0].IsConnected);
        SubSocket second = fixture.Context.CreateSub();
        second.Subscribe("");
        second.Bind(endpoint);
        await fixture.UntilAsync(() => second.PeerCount == 1 && publisher.GetPeers()[0].IsConnected);
        publisher.Send("news"u8);
        await AssertNextAsync(second, "news");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Within_the_process_a_publisher_that_connects_sends_it_once_whether_the_name_was_bound_before_or_not(
        bool connectsFirst)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { WelcomeMessage = "welcome"u8.ToArray() });
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Subscribe("");
        if (!connectsFirst)
        {
            subscriber.Bind("inproc://welcome");
        }

        publisher.Connect("inproc://welcome");
        if (connectsFirst)
        {
            subscriber.Bind("inproc://welcome");
        }

        publisher.Send("news"u8);
        await AssertNextAsync(subscriber, "welcome");
        await AssertNextAsync(subscriber, "news");
        Assert.False(subscriber.TryReceive(out _));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Within_the_process_a_subscriber_that_did_not_ask_for_it_does_not_get_it(bool connectsFirst)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { WelcomeMessage = "welcome"u8.ToArray() });
        SubSocket subscriber = fixture.Context.CreateSub();
        if (!connectsFirst)
        {
            subscriber.Bind("inproc://unasked");
        }

        publisher.Connect("inproc://unasked");
        if (connectsFirst)
        {
            subscriber.Bind("inproc://unasked");
        }

        Assert.False(subscriber.TryReceive(out _));
        subscriber.Subscribe("");
        publisher.Send("news"u8);
        await AssertNextAsync(subscriber, "news");
    }

    private static async Task AssertNextAsync(SubSocket subscriber, string expected)
    {
        using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(expected, System.Text.Encoding.ASCII.GetString(message.Span));
    }
}
