using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_asio_tcp: what each pattern carries over tcp.</summary>
public sealed class AsioTcpTests
{
    [Fact]
    public async Task A_pair_bounces() => await WithPairAsync(SocketWords.BounceAsync);

    [Fact]
    public async Task A_message_of_three_parts_arrives_in_three_parts() => await WithPairAsync(static async (server, client) =>
    {
        client.Say("part1", "part2", "part3");
        Assert.Equal(["part1", "part2", "part3"], await server.HearAsync());
        server.HearsNothing();
    });

    [Fact]
    public async Task A_message_of_one_mebibyte_arrives_unchanged() => await WithPairAsync(static async (server, client) =>
    {
        byte[] sent = Wire.Pattern(1024 * 1024);
        client.Send(sent);
        using Message received = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(1, received.PartCount);
        Wire.AssertSame(sent, received.Span.ToArray());
    });

    [Fact]
    public async Task A_burst_of_a_hundred_messages_arrives_in_order() => await WithPairAsync(static async (server, client) =>
    {
        for (int i = 0; i < 100; i++)
        {
            client.Say($"message {i}");
        }

        for (int i = 0; i < 100; i++)
        {
            Assert.Equal($"message {i}", await server.HearOneAsync());
        }
    });

    [Fact]
    public async Task A_receive_that_may_not_wait_finds_nothing() => await WithPairAsync(static (server, _) =>
    {
        Assert.False(server.TryReceive(out Message _));
        SocketWords.Fails("EAGAIN", () => server.Receive(TimeSpan.Zero));
        return Task.CompletedTask;
    });

    [Fact]
    public async Task A_publication_reaches_a_subscriber_of_its_topic()
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        SubSocket sub = fixture.Context.CreateSub();
        sub.Subscribe("A");
        sub.Connect(pub.Bind(Link.Any(Link.Tcp)));
        await fixture.UntilAsync(() => pub.TopicCount == 1);
        pub.Say("B no");
        pub.Say("A yes");
        Assert.Equal("A yes", await sub.HearOneAsync());
    }

    [Fact]
    public async Task A_router_knows_a_dealer_by_the_id_it_chose()
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes("client") });
        dealer.Connect(router.Bind(Link.Any(Link.Tcp)));
        dealer.Say("request");
        (byte[] id, string[] parts) = await router.HearFromAsync();
        Assert.Equal("client", SocketWords.Text(id));
        Assert.Equal(["request"], parts);
        router.SayTo("client", "reply");
        Assert.Equal("reply", await dealer.HearOneAsync());
    }

    [Fact]
    public async Task An_xpub_reads_the_subscription_behind_a_byte_one()
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub();
        SubSocket sub = fixture.Context.CreateSub();
        sub.Connect(xpub.Bind(Link.Any(Link.Tcp)));
        sub.Subscribe("A");
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
    }

    [Fact]
    public async Task Five_messages_pass_marks_of_five()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = 5, SendHighWaterMark = 5 });
        PairSocket client = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = 5, SendHighWaterMark = 5 });
        client.Connect(server.Bind(Link.Any(Link.Tcp)));
        for (int i = 0; i < 5; i++)
        {
            Assert.True(client.TrySay($"message {i}"));
        }

        for (int i = 0; i < 5; i++)
        {
            Assert.Equal($"message {i}", await server.HearOneAsync());
        }
    }

    private static async Task WithPairAsync(Func<PairSocket, PairSocket, Task> test)
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind(Link.Any(Link.Tcp)));
        await test(server, client);
    }
}
