using Microsoft.Extensions.Options;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Registries, receivers, gateways, clients and SPOT nodes whose settings are all in the configuration.</summary>
public sealed class ServicesConfigurationTests
{
    [Fact]
    public async Task Services_of_a_host_find_each_other_by_the_configuration_alone()
    {
        await using var host = new HostFixture(
            ("Registry:PublisherEndpoint", "inproc://lists"), ("Registry:RouterEndpoint", "inproc://registry"),
            ("Receivers:quotes:Bind", "inproc://quotes"), ("Receivers:quotes:Registries", "inproc://registry"),
            ("Gateway:FollowRegistries", "inproc://lists"), ("Gateways:fixed:Receivers:quotes:0", "inproc://quotes"),
            ("Clients:direct:Connect", "inproc://quotes"),
            ("SpotNodes:source:Bind", "inproc://source"), ("SpotNodes:source:Registries", "inproc://registry"),
            ("SpotNodes:follower:FollowRegistries", "inproc://lists"), ("SpotNodes:neighbour:Connect", "inproc://source"));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkRegistry();
        host.Services.AddZlinkReceiver<Ask, Quote>("quotes", null, static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1)));
        host.Services.AddZlinkGateway();
        host.Services.AddZlinkGateway(name: "fixed");
        host.Services.AddZlinkClient("quotes");
        host.Services.AddZlinkClient("direct");
        host.Services.AddZlinkSpotNode("source");
        host.Services.AddZlinkSpotNode("follower");
        host.Services.AddZlinkSpotNode("neighbour");
        await host.StartAsync();

        ServiceClient[] services =
        [
            host.Get<ServiceGateway>().GetClient("quotes"), host.Get<ServiceGateway>("fixed").GetClient("quotes"),
            host.Get<RequestClient>("quotes").Service,
        ];
        foreach (ServiceClient service in services)
        {
            await service.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
            Quote quote = await service.RequestAsync<Ask, Quote>(new Ask("EUR"), Serializers.Json, Guard.Limit, Guard.Token).Guarded();
            Assert.Equal(new Quote("EUR", 1), quote);
        }

        await host.Get<RequestClient>("direct").Service.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        await host.Get<SpotNode>("follower").WaitForPeersAsync(1, Guard.Token).Guarded();
        await host.Get<SpotNode>("neighbour").WaitForPeersAsync(1, Guard.Token).Guarded();
        await host.StopAsync();
    }

    [Fact]
    public async Task A_client_that_connects_by_itself_has_the_request_timeout_of_the_configuration()
    {
        await using var host = new HostFixture(
            ("Receivers:slow:Bind", "inproc://slow"), ("Clients:slow:Connect", "inproc://slow"),
            ("Clients:slow:RequestTimeout", "00:00:00.05"));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkReceiver<Ask, Quote>("slow", null, static async (ask, cancellation) =>
        {
            await Task.Delay(Timeout.Infinite, cancellation);
            return new Quote(ask.Currency, 1);
        });
        host.Services.AddZlinkClient("slow");
        await host.StartAsync();
        RequestClient client = host.Get<RequestClient>("slow");
        await client.Service.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        await Assert.ThrowsAsync<TimeoutException>(
            () => client.RequestAsync<Ask, Quote>(new Ask("EUR"), cancellationToken: Guard.Token).AsTask().Guarded());
    }

    [Fact]
    public async Task A_registry_of_a_further_context_is_a_keyed_service_beside_that_of_the_application()
    {
        await using var host = new HostFixture();
        host.Services.AddZlinkRegistry("inproc://lists", "inproc://registry");
        host.Services.AddZlinkRegistry("inproc://lists", "inproc://registry", context: "feeds");
        host.Services.AddZlinkReceiver<Ask, Quote>(
            "quotes", "inproc://quotes", static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1)), "feeds")
            .UseRegistries("inproc://registry");
        host.Services.AddZlinkJson(Contracts.Default);
        await host.StartAsync();
        Assert.NotSame(host.Get<ServiceRegistry>(), host.Get<ServiceRegistry>("feeds"));
        await Guard.UntilAsync(
            () => host.Get<ServiceRegistry>("feeds").GetSnapshot().Entries.Count == 1,
            "the receiver is listed by the registry of its context");
        Assert.Empty(host.Get<ServiceRegistry>().GetSnapshot().Entries);
        Assert.Throws<ArgumentException>(() => host.Services.AddZlinkRegistry(context: "feeds"));
        await host.StopAsync();
    }

    [Fact]
    public async Task What_a_directory_may_make_a_gateway_and_a_node_dial_is_configured()
    {
        await using var host = new HostFixture(
            ("Registry:PublisherEndpoint", "inproc://lists"), ("Registry:RouterEndpoint", "inproc://registry"),
            ("Receivers:quotes:Bind", "inproc://quotes"), ("Receivers:quotes:Registries", "inproc://registry"),
            ("Gateway:FollowRegistries", "inproc://lists"), ("Gateway:DirectoryEndpoints:Transports:0", "tcp"),
            ("Gateway:DirectoryEndpoints:Transports:1", "ws"),
            ("SpotNodes:source:Bind", "inproc://source"), ("SpotNodes:source:Registries", "inproc://registry"),
            ("SpotNodes:follower:FollowRegistries", "inproc://lists"), ("SpotNodes:follower:DirectoryEndpoints:Transports", "tcp"));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkRegistry();
        host.Services.AddZlinkReceiver<Ask, Quote>("quotes", null, static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1)));
        host.Services.AddZlinkGateway();
        host.Services.AddZlinkSpotNode("source");
        host.Services.AddZlinkSpotNode("follower");
        await host.StartAsync();
        host.Get<ServiceGateway>().GetClient("quotes");
        await Guard.UntilAsync(() => host.Get<ServiceGateway>().GetReceivers().Any(static one => one.WhyNotReady?.Contains("Transports",
            StringComparison.Ordinal) == true), "the gateway may not use inproc");
        await Guard.UntilAsync(() => host.Get<SpotNode>("follower").GetPeers().Any(static one => one.WhyNotConnected?.Contains("Transports",
            StringComparison.Ordinal) == true), "the node may not use inproc");
        await host.StopAsync();
    }

    [Fact]
    public void A_name_is_used_once_in_all_contexts()
    {
        var host = new HostFixture();
        host.Services.AddZlinkRouter("jobs", "inproc://jobs");
        Assert.Throws<ArgumentException>(() => host.Services.AddZlinkRouter("jobs", "inproc://jobs", context: "feeds"));
        host.Services.AddZlinkGateway();
        Assert.Throws<ArgumentException>(() => host.Services.AddZlinkGateway(context: "feeds"));
    }

    [Theory]
    [InlineData("Gateway:RequestTimeouts", "00:00:01", "Zlink:Gateway:RequestTimeouts is not a setting")]
    [InlineData("Gateway:RequestTimeout", "soon", "Zlink:Gateway:RequestTimeout")]
    [InlineData("Gateway:UnreadMessageLimit", "0", "Zlink:Gateway:UnreadMessageLimit: UnreadMessageLimit takes 1 and above, not 0.")]
    [InlineData("Gateway:Socket:SendHighWaterMark", "0", "Zlink:Gateway:Socket:SendHighWaterMark: SendHighWaterMark takes 1")]
    [InlineData("Gateway:FollowRegistries", "tpc://nowhere", "Gateway \"\" cannot connect tpc://nowhere")]
    [InlineData("Clients:quotes:RequestTimeout", "00:00:01", "quotes:RequestTimeout is not a setting. The settings there are: Connect")]
    [InlineData("Clients:direct:RequestTimeout", "soon", "Zlink:Clients:direct:RequestTimeout")]
    [InlineData("Clients:direct:Health:ReadyReceiver:Degraded", "1", "ReadyReceiver")]
    [InlineData("Receivers:quotes:Weight", "0", "Zlink:Receivers:quotes:Weight: Weight takes 1 and above, not 0.")]
    [InlineData("Receivers:quotes:AdvertiseHost", "host:1234", "Zlink:Receivers:quotes:AdvertiseHost: ")]
    [InlineData("Receivers:quotes:HeartbeatInterval", "often", "Zlink:Receivers:quotes:HeartbeatInterval")]
    [InlineData("Receivers:quotes:HeartbeatInterval", "00:00:00", "Zlink:Receivers:quotes:HeartbeatInterval: ")]
    [InlineData("Receivers:quotes:Health:HandlerFault:Degraded", "1", "Zlink:Receivers:quotes:Health:HandlerFault is not a setting")]
    [InlineData("SpotNodes:prices:PublishQueueFullMode", "Maybe", "Zlink:SpotNodes:prices:PublishQueueFullMode")]
    [InlineData("SpotNodes:prices:DirectoryEndpoints:Transports", "udp", "DirectoryEndpoints:Transports: Transports takes tcp")]
    [InlineData("SpotNodes:prices:DirectoryEndpoints:Admission", "x", "DirectoryEndpoints:Admission is not a setting")]
    [InlineData("Gateway:DirectoryEndpoints:AllowLinkLocal", "maybe", "Zlink:Gateway:DirectoryEndpoints:AllowLinkLocal")]
    [InlineData("SpotNodes:prices:HeartbeatInterval", "00:00:00", "Zlink:SpotNodes:prices:HeartbeatInterval: ")]
    [InlineData("SpotNodes:prices:SubscriberSocket:ReconnectInterval", "x", "Zlink:SpotNodes:prices:SubscriberSocket:ReconnectInterval")]
    [InlineData("Registry:MaxEntries", "many", "Zlink:Registry:MaxEntries")]
    [InlineData("Registry:Id", "0", "Zlink:Registry:Id: Id takes 1 and above, not 0.")]
    [InlineData("Registry:Peer", "inproc://other", "Zlink:Registry:Peer is not a setting")]
    public async Task A_wrong_key_or_value_of_a_service_fails_the_start_and_is_named(string key, string value, string named)
    {
        await using var host = new HostFixture((key, value));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkRegistry("inproc://lists", "inproc://registry");
        host.Services.AddZlinkReceiver<Ask, Quote>(
            "quotes", "inproc://quotes", static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1)));
        host.Services.AddZlinkGateway(static gateway => gateway.AddReceiver("quotes", "inproc://quotes"));
        host.Services.AddZlinkClient("quotes").AddHealthCheck();
        host.Services.AddZlinkClient("direct", "inproc://quotes").AddHealthCheck();
        host.Services.AddZlinkSpotNode("prices");
        Exception failure = await Assert.ThrowsAnyAsync<Exception>(host.StartAsync);
        Assert.True(failure is ZlinkSettingException or OptionsValidationException);
        Assert.Contains(named, failure.Message, StringComparison.Ordinal);
    }
}
