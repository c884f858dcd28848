using System.Net;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class AdvertisedEndpointTests
{
    [Theory]
    [InlineData("tcp://0.0.0.0:43865", "10.0.0.5", "tcp://10.0.0.5:43865")]
    [InlineData("tcp://0.0.0.0:43865", "2001:db8::5", "tcp://[2001:db8::5]:43865")] // What an orchestrator gives as a pod's address.
    [InlineData("tcp://0.0.0.0:43865", "[2001:db8::5]", "tcp://[2001:db8::5]:43865")]
    [InlineData("tls://[::]:1", "pod-1.quotes", "tls://pod-1.quotes:1")]
    [InlineData("tcp://[::ffff:0:0]:43865", "host", "tcp://host:43865")] // 0.0.0.0 in a context with IPv6.
    [InlineData("wss://*:7/path", "::1", "wss://[::1]:7/path")]
    [InlineData("ws://0.0.0.0:7/", "host", "ws://host:7/")]
    [InlineData("tcp://127.0.0.1:5", "host", "tcp://127.0.0.1:5")]
    [InlineData("ipc:///tmp/a", "host", "ipc:///tmp/a")]
    [InlineData("inproc://a", "host", "inproc://a")]
    public void The_advertised_host_replaces_a_wildcard(string bound, string host, string advertised) =>
        Assert.Equal(advertised, AdvertisedEndpoint.Resolve(given: null, bound, host));

    [Theory]
    [InlineData("", "write the name or the address")]
    [InlineData("host:1234", "write the host alone, \"host\"")]
    [InlineData("[2001:db8::5]:1234", "write the host alone, \"[2001:db8::5]\"")]
    [InlineData("tcp://host", "write the host alone, \"host\"")]
    [InlineData("tcp://host:1234/path", "write the host alone, \"host\"")]
    [InlineData("host/path", "write the host alone, \"host\"")]
    [InlineData("*", "no peer can connect")]
    [InlineData("0.0.0.0", "no peer can connect")]
    [InlineData("::", "no peer can connect")]
    [InlineData("::ffff:0:0", "no peer can connect")]
    [InlineData("two words", "neither a name nor an address")]
    [InlineData("10.0.0.1;10.0.0.2", "neither a name nor an address")]
    public void A_host_that_is_none_is_refused_with_what_to_write(string host, string advice)
    {
        foreach (Action check in new Action[]
            { new ServiceReceiverOptions { AdvertiseHost = host }.Validate, new SpotNodeOptions { AdvertiseHost = host }.Validate })
        {
            ArgumentException refusal = Assert.Throws<ArgumentException>(check);
            Assert.Contains(advice, refusal.Message, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("tcp://2001:db8::5:43865", "tcp://[2001:db8::5]:43865")]
    [InlineData("tcp://10.0.0.5:5", "tcp://10.0.0.5:5")]
    [InlineData("wss://host:5/a?token=b", "wss://host:5/a?token=b")]
    [InlineData("inproc://a", "inproc://a")]
    [InlineData("https://shop.example/api", "https://shop.example/api")]
    public void A_given_endpoint_is_advertised_as_others_read_it(string given, string advertised) =>
        Assert.Equal(advertised, AdvertisedEndpoint.Resolve(given, "tcp://127.0.0.1:1", host: null));

    [Theory]
    [InlineData("")]
    [InlineData("host:1234")]
    [InlineData("tcp://host")]
    [InlineData("tcp://host:*")]
    [InlineData("tcp://*:1")]
    [InlineData("tcp://0.0.0.0:1")]
    [InlineData("tcp://[::ffff:0:0]:1")]
    [InlineData("udp://host:1")]
    public async Task An_endpoint_that_nobody_can_connect_to_is_refused_by_Register(string given)
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        await using var node = new SpotNode(fixture.Context);
        receiver.Bind("tcp://127.0.0.1:0");
        Assert.ThrowsAny<ArgumentException>(() => receiver.Register("echo", given));
        Assert.ThrowsAny<ArgumentException>(() => node.Register(advertise: given));
    }

    [Fact]
    public async Task A_context_with_IPv6_never_advertises_every_address_of_this_machine()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(
            fixture.Context, new ServiceReceiverOptions { Socket = { IPv6 = true } });
        await using var node = new SpotNode(
            fixture.Context, new SpotNodeOptions { PublisherSocket = { IPv6 = true } });
        receiver.Bind("tcp://0.0.0.0:0");
        node.Bind("tcp://0.0.0.0:0");
        foreach (ServiceRegistration registration in new[] { receiver.Register("echo"), node.Register() })
        {
            var endpoint = ZlinkEndpoint.Parse(registration.Endpoint);
            Assert.False(endpoint.IsWildcardHost, registration.Endpoint);
            Assert.True(IPAddress.TryParse(endpoint.Host, out _), registration.Endpoint);
        }
    }
}
