using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A publisher that drops nothing waits for a peer that does not read, until the message is none of that peer's business any
/// more.</summary>
public sealed class NoDropTopicTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_proxy_goes_on_when_the_peer_that_it_waits_for_has_cancelled_the_topic(bool isExtended)
    {
        await using var fixture = new ContextFixture();
        PairSocket front = fixture.Context.CreatePair();
        front.Bind("inproc://front");
        PairSocket source = fixture.Context.CreatePair();
        source.Connect("inproc://front");
        ZmpSocket back = isExtended
            ? fixture.Context.CreateXPub(new XPubOptions { NoDrop = true, SendHighWaterMark = 2 })
            : fixture.Context.CreatePub(new PubOptions { NoDrop = true, SendHighWaterMark = 2 });
        back.Bind("inproc://back");
        SubSocket slow = Subscriber(fixture, receiveMark: 2);
        SubSocket good = Subscriber(fixture, receiveMark: null);
        await fixture.UntilAsync(() => back.PeerCount == 2);
        var proxy = new SocketProxy(front, back);
        Task run = proxy.RunAsync(Guard.Token);
        const int Messages = 20;
        for (int i = 0; i < Messages; i++)
        {
            source.Send("a"u8);
        }

        await fixture.UntilAsync(() => proxy.GetStatistics() is { FrontReceived.Parts: > 0 } counters
            && counters.FrontReceived.Parts > counters.BackSent.Parts);
        slow.Unsubscribe("a");
        for (int i = 0; i < Messages; i++)
        {
            using Message message = await good.ReceiveAsync(Guard.Token).Guarded();
        }

        proxy.Stop();
        await run.Guarded();
    }

    [Fact]
    public async Task With_inverted_matching_a_send_goes_on_when_the_peer_that_it_waits_for_subscribes_the_topic()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { NoDrop = true, InvertMatching = true, SendHighWaterMark = 2 });
        publisher.Bind("inproc://back");
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 2, InvertMatching = true });
        subscriber.Connect("inproc://back");
        subscriber.Subscribe("other");
        while (publisher.TrySend("a"u8))
        {
            // Until it is full.
        }

        ValueTask waiting = publisher.SendAsync("a"u8.ToArray(), Guard.Token);
        Assert.False(waiting.IsCompleted);
        subscriber.Subscribe("a");
        await waiting.AsTask().Guarded();
    }

    [Fact]
    public async Task No_subscriber_is_left_out_while_NoDrop_is_switched_on_and_off()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        publisher.Bind("inproc://back");
        SubSocket[] subscribers = [Subscriber(fixture, null), Subscriber(fixture, null)];
        using var end = new CancellationTokenSource();
        Task switching = Task.Run(
            () =>
            {
                while (!end.IsCancellationRequested)
                {
                    publisher.Options.NoDrop = !publisher.Options.NoDrop;
                }
            },
            Guard.Token);
        int rounds = SlowTests.Rounds(1_000, all: 10_000);
        for (int i = 0; i < rounds; i++)
        {
            publisher.Send("a"u8);
            foreach (SubSocket subscriber in subscribers)
            {
                Assert.True(subscriber.TryReceive(out Message message), $"round {i}");
                message.Dispose();
            }
        }

        await end.CancelAsync();
        await switching.Guarded();
    }

    private static SubSocket Subscriber(ContextFixture fixture, int? receiveMark)
    {
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = receiveMark });
        subscriber.Subscribe("a");
        subscriber.Connect("inproc://back");
        return subscriber;
    }
}
