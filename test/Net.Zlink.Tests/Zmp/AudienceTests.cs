using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What a socket remembers of its last peers between two messages must not outlive a change: who subscribes to everything, who was
/// sent to last, who is the only one.</summary>
public sealed class AudienceTests
{
    private const string Name = "inproc://audience";

    [Fact]
    public async Task A_publisher_whose_peers_all_subscribe_to_everything_notices_each_change_at_once()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        publisher.Bind(Name);
        SubSocket first = Subscriber(fixture, "");
        SubSocket second = Subscriber(fixture, "");
        Assert.True(publisher.TrySend("1"u8));
        Assert.True(publisher.TrySend("2"u8));
        SubSocket picky = Subscriber(fixture, "4");
        Assert.True(publisher.TrySend("3"u8));
        Assert.True(publisher.TrySend("4"u8));
        second.Unsubscribe([]);
        Assert.True(publisher.TrySend("5"u8));
        second.Subscribe("7"u8);
        Assert.True(publisher.TrySend("6"u8));
        Assert.True(publisher.TrySend("7"u8));
        first.Dispose();
        picky.Subscribe([]);
        Assert.True(publisher.TrySend("8"u8));
        second.Subscribe([]);
        Assert.True(publisher.TrySend("9"u8));
        Assert.True(publisher.TrySend("A"u8));
        Assert.Equal("12347" + "9A", Read(second));
        Assert.Equal("4" + "89A", Read(picky));
    }

    [Fact]
    public async Task Inverted_matching_counts_from_the_moment_it_is_set()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        publisher.Bind(Name);
        SubSocket all = Subscriber(fixture, "");
        publisher.TrySend("1"u8);
        publisher.TrySend("2"u8);
        publisher.Options.InvertMatching = true;
        publisher.TrySend("3"u8);
        publisher.Options.InvertMatching = false;
        publisher.TrySend("4"u8);
        Assert.Equal("124", Read(all));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task With_inverted_matching_each_message_is_looked_at_anew(int count)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { InvertMatching = true });
        publisher.Bind(Name);
        SubSocket[] subscribers = [.. Enumerable.Range(0, count).Select(i => Subscriber(fixture, $"{i}"))];
        foreach (SubSocket subscriber in subscribers)
        {
            subscriber.Options.InvertMatching = true;
        }

        foreach (char message in "01230")
        {
            publisher.TrySend([(byte)message]);
        }

        for (int i = 0; i < count; i++)
        {
            Assert.Equal("01230".Replace($"{i}", "", StringComparison.Ordinal), Read(subscribers[i]));
        }
    }

    [Fact]
    public async Task A_subscriber_of_everything_receives_nothing_while_it_inverts()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        publisher.Bind(Name);
        SubSocket all = Subscriber(fixture, "");
        publisher.TrySend("1"u8);
        all.Options.InvertMatching = true;
        publisher.TrySend("2"u8);
        Assert.Equal("", Read(all));
        all.Options.InvertMatching = false;
        publisher.TrySend("3"u8);
        Assert.Equal("3", Read(all));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task A_publisher_that_does_not_drop_refuses_what_somebody_has_no_room_for_also_when_all_subscribe_to_everything(int count)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { NoDrop = true, SendHighWaterMark = 1 });
        publisher.Bind(Name);
        SubSocket[] subscribers = [.. Enumerable.Range(0, count).Select(_ => Subscriber(fixture, "", mark: 1))];
        Assert.True(publisher.TrySend("1"u8));
        Assert.True(publisher.TrySend("2"u8));
        Assert.False(publisher.TrySend("3"u8));
        Assert.All(subscribers, subscriber => Assert.Equal("12", Read(subscriber)));
        Assert.True(publisher.TrySend("4"u8));
        Assert.All(subscribers, subscriber => Assert.Equal("4", Read(subscriber)));
        Assert.Equal(0, publisher.GetStatistics().DroppedAtHighWaterMark);
    }

    [Fact]
    public async Task A_router_sends_to_whoever_holds_the_id_now()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(
            new RouterOptions { Mandatory = true, OnDuplicateRoutingId = DuplicateRoutingId.Replace });
        router.Bind(Name);
        DealerSocket first = Dealer(fixture, "id");
        Assert.True(router.To("id"u8).TrySend("1"u8));
        Assert.True(router.To("id"u8).TrySend("2"u8));
        Assert.Equal("12", Read(first));
        DealerSocket second = Dealer(fixture, "id");
        Assert.True(router.To("id"u8).TrySend("3"u8));
        Assert.True(router.To("id"u8).TrySend("4"u8));
        Assert.Equal("34", Read(second));
        Assert.Equal("", Read(first));
        second.Dispose();
        Assert.Equal(ZlinkError.HostUnreachable, Assert.Throws<ZlinkException>(() => router.To("id"u8).Send("5"u8)).Error);
    }

    [Fact]
    public async Task A_dealer_shares_out_its_messages_as_soon_as_it_has_a_second_peer()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Bind(Name);
        DealerSocket first = Dealer(fixture, "a");
        Assert.True(dealer.TrySend("1"u8));
        Assert.True(dealer.TrySend("2"u8));
        DealerSocket second = Dealer(fixture, "b");
        Assert.True(dealer.TrySend("3"u8));
        Assert.True(dealer.TrySend("4"u8));
        Assert.Equal(3, Read(first).Length);
        Assert.Equal(1, Read(second).Length);
        first.Dispose();
        Assert.True(dealer.TrySend("5"u8));
        Assert.True(dealer.TrySend("6"u8));
        Assert.Equal("56", Read(second));
    }

    private static SubSocket Subscriber(ContextFixture fixture, string topic, int mark = 1000)
    {
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = mark });
        subscriber.Subscribe(System.Text.Encoding.ASCII.GetBytes(topic));
        subscriber.Connect(Name);
        return subscriber;
    }

    private static DealerSocket Dealer(ContextFixture fixture, string id)
    {
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = System.Text.Encoding.ASCII.GetBytes(id) });
        dealer.Connect(Name);
        return dealer;
    }

    private static string Read(ReceivingSocket socket)
    {
        string all = "";
        while (socket.TryReceive(out Message message))
        {
            all += System.Text.Encoding.ASCII.GetString(message.Span);
            message.Dispose();
        }

        return all;
    }
}
