using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What an application keeps with a peer.</summary>
public sealed class UserStateTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://state")]
    public async Task It_comes_with_each_message_of_that_peer_and_no_other(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string bound = router.Bind(endpoint);
        DealerSocket[] dealers = [fixture.Context.CreateDealer(), fixture.Context.CreateDealer()];
        for (int round = 1; round <= 3; round++)
        {
            foreach (DealerSocket dealer in dealers)
            {
                if (round == 1)
                {
                    dealer.Connect(bound);
                }

                dealer.Send("x"u8);
                Message message = await router.ReceiveAsync(Guard.Token).Guarded();
                using Message copy = message.Copy();
                message.UserState = (message.UserState as int? ?? 0) + 1;
                Assert.Equal(round, message.UserState);
                Assert.Equal(round, copy.UserState);
                message.Dispose();
                Assert.Throws<ObjectDisposedException>(() => message.UserState);
                Assert.Throws<ObjectDisposedException>(() => message.UserState = 1);
            }
        }

        Assert.Equal([3, 3], router.GetPeers().Select(static peer => peer.UserState));
    }

    [Fact]
    public async Task A_peer_that_connects_again_begins_with_nothing()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string bound = router.Bind("tcp://127.0.0.1:0");
        for (int i = 0; i < 2; i++)
        {
            using DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "same"u8.ToArray() });
            dealer.Connect(bound);
            dealer.Send("x"u8);
            using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
            Assert.Null(message.UserState);
            message.UserState = "known";
            dealer.Dispose();
            await fixture.UntilAsync(() => router.GetPeers().Count == 0);
        }
    }

    [Fact]
    public async Task An_XPUB_keeps_it_with_the_subscriber_that_a_notice_is_of()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));
        subscriber.Subscribe("a");
        using Message first = await publisher.ReceiveAsync(Guard.Token).Guarded();
        first.UserState = "known";
        subscriber.Subscribe("b");
        using Message second = await publisher.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("known", second.UserState);
        Assert.Equal("known", Assert.Single(publisher.GetPeers()).UserState);
    }

    [Fact]
    public void What_was_never_received_has_nobody_to_keep_it_with()
    {
        Message none = default;
        Assert.Null(none.UserState);
        Assert.Throws<InvalidOperationException>(() => none.UserState = 1);
    }
}
