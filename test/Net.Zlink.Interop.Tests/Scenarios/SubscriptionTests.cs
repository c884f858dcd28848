using System.Text;
using Net.Zlink.Interop.Tests.Matrix;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>What subscribers ask for and publishers notice, with ours on either side. docs/protocol.md has the frames.</summary>
public sealed class SubscriptionTests
{
    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void A_subscriber_gets_what_begins_with_its_prefixes_and_nothing_else(
        PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.Sub);
        subscriber.Subscribe("a");
        endpoint.Connect(publisher, subscriber);
        Assert.Equal("\u0001a", publisher.ReceiveText());
        publisher.SendText("b", "other topic");
        publisher.SendText("", "empty topic");
        publisher.SendText("a", "exactly");
        publisher.SendText("ab", "longer", "of three parts");
        publisher.SendText("A", "other case");
        publisher.SendText("a", "last");
        Assert.Equal("a|exactly", subscriber.ReceiveText());
        Assert.Equal("ab|longer|of three parts", subscriber.ReceiveText());
        Assert.Equal("a|last", subscriber.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void A_publisher_notices_the_first_subscription_and_the_last_unsubscription_of_a_prefix(
        PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.Sub);
        endpoint.Connect(publisher, subscriber);
        subscriber.Subscribe("a");
        subscriber.Subscribe("a");
        subscriber.Subscribe("");
        subscriber.Unsubscribe("a");
        subscriber.Unsubscribe("never asked for");
        subscriber.Subscribe("b");
        subscriber.Unsubscribe("a");
        subscriber.Subscribe("last");
        Assert.Equal("\u0001a", publisher.ReceiveText());
        Assert.Equal("\u0001", publisher.ReceiveText());
        Assert.Equal("\u0001b", publisher.ReceiveText());
        Assert.Equal("\0a", publisher.ReceiveText());
        Assert.Equal("\u0001last", publisher.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void Two_subscribers_of_one_prefix_are_noticed_once_and_each_time_if_verbose(
        PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        foreach (bool verbose in new[] { false, true })
        {
            using var endpoint = new TestEndpoint(transport);
            using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
            using IPeerSocket first = subscriberKind.Create(NativeSocketType.Sub);
            using IPeerSocket second = subscriberKind.Create(NativeSocketType.Sub);
            publisher.SetOption(NativeOption.XPubVerbose, verbose ? 1 : 0);
            first.Subscribe("a");
            string bound = endpoint.Connect(publisher, first);
            Assert.Equal("\u0001a", publisher.ReceiveText());
            endpoint.Equip(publisher, second);
            second.Connect(bound);
            second.Subscribe("a");
            second.Subscribe("b");
            if (verbose)
            {
                Assert.Equal("\u0001a", publisher.ReceiveText());
            }

            Assert.Equal("\u0001b", publisher.ReceiveText());
            publisher.SendText("a");
            Assert.Equal("a", first.ReceiveText());
            Assert.Equal("a", second.ReceiveText());

            // The prefix has one subscriber left, then none.
            second.Dispose();
            Assert.Equal("\0b", publisher.ReceiveText());
            first.Dispose();
            Assert.Equal("\0a", publisher.ReceiveText());
        }
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void An_unsubscribed_prefix_is_delivered_no_more(PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.XSub);
        endpoint.Connect(publisher, subscriber);
        subscriber.Subscribe("a");
        subscriber.Subscribe("b");
        Assert.Equal("\u0001a", publisher.ReceiveText());
        Assert.Equal("\u0001b", publisher.ReceiveText());
        publisher.SendText("a", "1");
        subscriber.Unsubscribe("a");
        Assert.Equal("\0a", publisher.ReceiveText());
        publisher.SendText("a", "2");
        publisher.SendText("b", "3");
        Assert.Equal("a|1", subscriber.ReceiveText());
        Assert.Equal("b|3", subscriber.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void Prefixes_of_every_length_and_byte_arrive_unchanged(PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.Sub);
        endpoint.Connect(publisher, subscriber);

        // The borders of the native message (33 bytes inside it) and of one length byte, and a prefix that is longer than any buffer.
        foreach (int size in new[] { 1, 31, 32, 33, 34, 245, 246, 254, 255, 256, 257, 70_000 })
        {
            byte[] prefix = TestPayload.Make(-size, size);
            subscriber.Subscribe(prefix);
            TestPayload.AssertEqual([[1, .. prefix]], publisher.Receive(), "the subscription");
            publisher.Send(prefix, [1]);
            TestPayload.AssertEqual([prefix, [1]], subscriber.Receive(), "the message");
            subscriber.Unsubscribe(prefix);
            TestPayload.AssertEqual([[0, .. prefix]], publisher.Receive(), "the unsubscription");
        }
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void A_thousand_prefixes_are_all_noticed_and_all_served(PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.Sub);
        string[] prefixes = [.. Enumerable.Range(0, 1000).Select(static i => $"topic/{i:D4}/")];
        foreach (string prefix in prefixes)
        {
            subscriber.Subscribe(prefix);
        }

        endpoint.Connect(publisher, subscriber);
        IEnumerable<string> noticed = prefixes.Select(_ => publisher.ReceiveText()[1..]).Order(StringComparer.Ordinal);
        Assert.Equal(prefixes, noticed, StringComparer.Ordinal);
        foreach (string prefix in prefixes)
        {
            publisher.SendText($"{prefix}x");
        }

        Assert.Equal(prefixes.Select(static prefix => $"{prefix}x"), prefixes.Select(_ => subscriber.ReceiveText()),
            StringComparer.Ordinal);
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void Messages_that_an_XSUB_sends_beside_subscriptions_reach_the_XPUB(
        PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.XSub);
        subscriber.Subscribe("a");
        endpoint.Connect(publisher, subscriber);
        Assert.Equal("\u0001a", publisher.ReceiveText());
        subscriber.SendText("up", "stream");
        subscriber.SendText("");
        subscriber.SendText("\u0002", "\u0003");
        Assert.Equal("up|stream", publisher.ReceiveText());
        Assert.Equal("", publisher.ReceiveText());
        Assert.Equal("\u0002|\u0003", publisher.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void A_welcome_message_reaches_a_subscriber_that_wants_it(
        PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.Sub);
        publisher.SetOption(NativeOption.XPubWelcomeMessage, "Welcome");
        subscriber.Subscribe("W");
        endpoint.Connect(publisher, subscriber);

        // In this order: a native publisher greets nobody before it is called into.
        Assert.Equal("\u0001W", publisher.ReceiveText());
        Assert.Equal("Welcome", subscriber.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void A_manual_publisher_grants_other_prefixes_than_asked_for(
        PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.XSub);
        publisher.SetOption(NativeOption.XPubManual, 1);
        subscriber.Subscribe("asked");
        endpoint.Connect(publisher, subscriber);
        Assert.Equal("\u0001asked", publisher.ReceiveText());
        publisher.SetOption(NativeOption.Subscribe, "granted");
        publisher.SendText("asked");
        publisher.SendText("granted");
        Assert.Equal("granted", subscriber.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void Inverted_matching_delivers_what_was_not_asked_for(PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.XPub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.Sub);
        publisher.SetOption(NativeOption.InvertMatching, 1);
        subscriber.SetOption(NativeOption.InvertMatching, 1);
        subscriber.Subscribe("a");
        endpoint.Connect(publisher, subscriber);
        Assert.Equal("\u0001a", publisher.ReceiveText());
        publisher.SendText("a");
        publisher.SendText("b");
        Assert.Equal("b", subscriber.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverTcpAndWss), MemberType = typeof(PeerSides))]
    public void A_publisher_that_connects_serves_a_subscriber_that_is_bound(
        PeerKind publisherKind, PeerKind subscriberKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket publisher = publisherKind.Create(NativeSocketType.Pub);
        using IPeerSocket subscriber = subscriberKind.Create(NativeSocketType.Sub);
        endpoint.Connect(subscriber, publisher);
        subscriber.Subscribe("a");
        byte[][]? message = null;
        Limits.Until("the subscription has arrived", slice =>
        {
            publisher.SendText("b", "not wanted");
            publisher.SendText("a", "wanted");
            return (message = subscriber.Receive(slice)) is not null;
        });
        Assert.Equal("a|wanted", $"{Encoding.UTF8.GetString(message![0])}|{Encoding.UTF8.GetString(message[1])}");
    }
}
