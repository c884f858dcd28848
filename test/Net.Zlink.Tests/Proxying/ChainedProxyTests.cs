using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Proxying;

/// <summary>Proxies one behind another, whose XPUBs tell of every subscriber.</summary>
public sealed class ChainedProxyTests
{
    private const int Subscribers = 3;

    [Theory]
    [InlineData(SubscriptionNotices.FirstAndLast, 1, "tcp://127.0.0.1:*")]
    [InlineData(SubscriptionNotices.AllSubscriptions, 1, "tcp://127.0.0.1:*")]
    [InlineData(SubscriptionNotices.AllSubscriptions, 2, "inproc://*")]
    [InlineData(SubscriptionNotices.All, 1, "inproc://*")]
    [InlineData(SubscriptionNotices.All, 2, "tcp://127.0.0.1:*")]
    [InlineData(SubscriptionNotices.All, 3, "inproc://*")]
    public async Task The_last_unsubscription_goes_up_through_every_proxy(SubscriptionNotices notices, int proxies, string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        string bound = publisher.Bind(Named(endpoint, 0));
        List<Task> running = [];
        using var ending = new CancellationTokenSource();
        for (int i = 1; i <= proxies; i++)
        {
            XSubSocket front = fixture.Context.CreateXSub();
            front.Connect(bound);
            var options = new XPubOptions { Notices = notices };
            XPubSocket back = fixture.Context.CreateXPub(options);
            bound = back.Bind(Named(endpoint, i));
            running.Add(new SocketProxy(front, back).RunAsync(ending.Token));
        }

        SubSocket[] subscribers = [.. Enumerable.Range(0, Subscribers).Select(_ => fixture.Context.CreateSub())];
        foreach (SubSocket subscriber in subscribers)
        {
            subscriber.Connect(bound);
            subscriber.Subscribe("topic");
        }

        await UntilAllAreServedAsync(fixture, publisher, subscribers);
        for (int i = 0; i < Subscribers - 1; i++)
        {
            subscribers[i].Unsubscribe("topic");
        }

        await UntilAllAreServedAsync(fixture, publisher, subscribers[^1..]);
        Assert.Equal(1, publisher.TopicCount);
        subscribers[^1].Dispose();
        await fixture.UntilAsync(() => publisher.TopicCount == 0);
        await ending.CancelAsync();
        await Task.WhenAll(running).ContinueWith(static _ => { }, TaskScheduler.Default).Guarded();
    }

    private static string Named(string endpoint, int i) => endpoint.StartsWith("inproc", StringComparison.Ordinal)
        ? $"inproc://chained-{i}" : endpoint;

    private static async Task UntilAllAreServedAsync(ContextFixture fixture, XPubSocket publisher, SubSocket[] subscribers)
    {
        await fixture.UntilAsync(() =>
        {
            publisher.TrySend("topic"u8);
            return subscribers.All(static one => one.GetStatistics().ReceivedMessages > 0);
        });
    }
}
