using Microsoft.Extensions.Options;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>What a configuration may say, and how a wrong one is refused: at the start, by the name of the key.</summary>
public sealed class ConfigurationTests
{
    [Fact]
    public async Task Endpoints_options_and_topics_come_from_the_configuration()
    {
        await using var host = new HostFixture(
            ("Context:ShardCount", "3"),
            ("Sockets:jobs:Bind:0", "inproc://jobs"), ("Sockets:jobs:Bind:1", "inproc://more"),
            ("Sockets:jobs:Options:SendHighWaterMark", "17"), ("Sockets:jobs:Options:Tls:CaFile", "ca.pem"),
            ("Sockets:feed:Connect", "inproc://prices"), ("Sockets:feed:Subscribe", "price."),
            ("Streams:chat:Bind", "tcp://127.0.0.1:*"), ("Streams:chat:Options:MaxMessageSize", "99"));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkRouter("jobs", "tcp://*:1");
        host.Services.AddZlinkSub("feed");
        host.Services.AddZlinkStream(null, name: "chat");
        await host.StartAsync();

        RouterSocket jobs = host.Get<RouterSocket>("jobs");
        Assert.Equal(["inproc://jobs", "inproc://more"], jobs.BoundEndpoints.Order(StringComparer.Ordinal), StringComparer.Ordinal);
        Assert.Equal((17, "ca.pem"), (jobs.Options.SendHighWaterMark, jobs.Options.Tls.CaFile));
        Assert.Equal(["inproc://prices"], host.Get<SubSocket>("feed").ConnectedEndpoints, StringComparer.Ordinal);
        Assert.Equal(99, host.Get<StreamSocket>("chat").Options.MaxMessageSize);
        Assert.Equal(3, host.Get<ZlinkContext>().GetStatistics().Shards.Count);
    }

    [Theory]
    [InlineData("Contxt:ShardCount", "1", "Zlink:Contxt is not a setting. The settings there are: Context, Health")]
    [InlineData("Context:ShardCounts", "1", "Zlink:Context:ShardCounts is not a setting. The settings there are: DefaultLinger, IPv6")]
    [InlineData("Context:ShardCount", "many", "Zlink:Context:ShardCount")]
    [InlineData("Context:ShardCount", "0", "Zlink:Context:ShardCount: ShardCount takes 1 to 1024, not 0.")]
    [InlineData("Sockets:jobs:Binds", "inproc://jobs", "Zlink:Sockets:jobs:Binds")]
    [InlineData("Sockets:jobs:Bind", "tpc://nowhere", "tpc://nowhere")]
    [InlineData("Sockets:jobs:Options:SendHighWatermarks", "1", "SendHighWatermarks")]
    [InlineData("Sockets:jobs:Options:SendHighWaterMark", "many", "Zlink:Sockets:jobs:Options:SendHighWaterMark")]
    [InlineData("Sockets:jobs:Options:SendHighWaterMark", "0", "Zlink:Sockets:jobs:Options:SendHighWaterMark: SendHighWaterMark takes 1")]
    [InlineData("Sockets:jobs:Subscribe", "price.", "only a SUB can subscribe")]
    [InlineData("Streams:chat:Options:MaxMessageSize", "big", "Zlink:Streams:chat:Options:MaxMessageSize")]
    public async Task A_wrong_key_or_value_fails_the_start_and_is_named(string key, string value, string named)
    {
        await using var host = new HostFixture((key, value));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkRouter("jobs");
        host.Services.AddZlinkStream("tcp://127.0.0.1:*", name: "chat");
        Exception failure = await Assert.ThrowsAnyAsync<Exception>(host.StartAsync);
        Assert.True(failure is ZlinkSettingException or OptionsValidationException);
        Assert.Contains(named, failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Health:ShardDelays:Degraded")]
    [InlineData("Sockets:jobs:Health:QueuedMessage:Degraded")]
    [InlineData("Streams:chat:Health:QueuedMessage:Degraded")]
    public async Task A_wrong_key_of_a_threshold_fails_the_start(string key)
    {
        await using var host = new HostFixture((key, "1"));
        host.Services.AddZlink(host.Section).AddHealthCheck();
        host.Services.AddZlinkRouter("jobs").AddHealthCheck();
        host.Services.AddZlinkStream("tcp://127.0.0.1:*", static stream => stream.AddHealthCheck(), "chat");
        var failure = await Assert.ThrowsAsync<ZlinkSettingException>(host.StartAsync);
        Assert.Contains(key.Split(':')[^2], failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_section_that_is_empty_changes_nothing()
    {
        await using var host = new HostFixture();
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkRouter("jobs", "inproc://jobs").Configure(static options => options.Linger = TimeSpan.FromSeconds(3));
        await host.StartAsync().Guarded();
        Assert.Equal(TimeSpan.FromSeconds(3), host.Get<RouterSocket>("jobs").Options.Linger);
    }
}
