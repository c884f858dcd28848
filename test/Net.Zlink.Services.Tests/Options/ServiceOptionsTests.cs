using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public sealed class ServiceOptionsTests
{
    public static TheoryData<Action, string> Wrong => new()
    {
        {
            new ServiceGatewayOptions { RequestTimeout = TimeSpan.FromSeconds(-2) }.Validate,
            "RequestTimeout takes TimeSpan.Zero and above, or"
        },
        { new ServiceGatewayOptions { MaxConcurrentDials = 0 }.Validate, "MaxConcurrentDials takes 1 and above, not 0." },
        { new ServiceGatewayOptions { DirectoryEndpoints = { Transports = { "udp" } } }.Validate, "Transports takes tcp, ipc, inproc" },
        { new ServiceReceiverOptions { ReadAheadByteLimit = 0 }.Validate, "ReadAheadByteLimit takes 1 and above, not 0." },
        { new ServiceRegistryOptions { PublisherEndpoint = "", RouterEndpoint = "inproc://r" }.Validate, "PublisherEndpoint is empty" },
        { new ServiceRegistryOptions { PublisherEndpoint = "inproc://p", RouterEndpoint = "inproc://r", Id = 0 }.Validate, "Id takes 1" },
        {
            new RegistryDirectoryOptions { StaleViewTimeout = TimeSpan.FromTicks(-1) }.Validate,
            "StaleViewTimeout takes TimeSpan.Zero and above"
        },
        { new DnsDirectoryOptions { Transport = "udp" }.Validate, "Transport takes tcp, tls, ws, wss, not \"udp\"." },
        { new SpotNodeOptions { PublishQueueCapacity = -1 }.Validate, "PublishQueueCapacity takes 0 and above, not -1." },
        { new SpotSubscriberOptions { Capacity = 0 }.Validate, "Capacity takes 1 and above, not 0." },
        { new DrainOptions { IdleTime = TimeSpan.FromTicks(-1) }.Validate, "IdleTime takes TimeSpan.Zero and above" },
    };

    [Theory]
    [MemberData(nameof(Wrong), DisableDiscoveryEnumeration = true)]
    public void A_value_that_is_not_allowed_is_refused_by_the_name_of_its_property_and_what_it_takes(Action validate, string sentence)
    {
        var refusal = Assert.ThrowsAny<ArgumentException>(validate);
        Assert.StartsWith(sentence, refusal.Message, StringComparison.Ordinal);
        Assert.Equal(sentence.Split(' ')[0], refusal.ParamName);
    }

    [Fact]
    public async Task Options_serve_two_receivers_which_have_ids_of_their_own_and_are_not_changed_by_later_changes()
    {
        await using var fixture = new ContextFixture();
        var options = new ServiceReceiverOptions { Socket = { SendHighWaterMark = 7 } };
        await using var first = new ServiceReceiver(fixture.Context, options);
        options.Socket.SendHighWaterMark = 8;
        await using var second = new ServiceReceiver(fixture.Context, options);
        Assert.Equal((7, 8), (first.Socket.Options.SendHighWaterMark, second.Socket.Options.SendHighWaterMark));
        Assert.NotEqual(first.RoutingId, second.RoutingId);
    }

    [Theory]
    [InlineData(0, 0)] // Without heartbeats of its own the gateway judges by the receiver's alone.
    [InlineData(1, 60)]
    public async Task The_ttl_of_a_gateways_heartbeats_follows_its_timeout_and_its_interval(int interval, int ttl)
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions
        {
            Socket = { HeartbeatInterval = TimeSpan.FromSeconds(interval), HeartbeatTimeout = TimeSpan.FromSeconds(60) },
        });
        Assert.Equal(TimeSpan.FromSeconds(ttl), scene.Gateway.Options.Socket.HeartbeatTtl);
    }
}
