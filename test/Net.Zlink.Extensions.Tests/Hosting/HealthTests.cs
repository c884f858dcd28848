using Microsoft.Extensions.Diagnostics.HealthChecks;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Health checks turn red with the figure that is wrong, and green again.</summary>
public sealed class HealthTests
{
    [Fact]
    public async Task A_socket_that_connects_is_unhealthy_until_its_peer_is_there_and_says_why()
    {
        await using var server = new ZlinkContext();
        using RouterSocket router = server.CreateRouter();
        string endpoint = router.Bind("tcp://127.0.0.1:*");
        await using var host = new HostFixture();
        host.Services.AddZlinkDealer("jobs", endpoint).AddHealthCheck()
            .Configure(static options => options.ReconnectInterval = TimeSpan.FromMilliseconds(10));
        await host.StartAsync();
        await UntilStatusAsync(host, "zlink-dealer-jobs", HealthStatus.Healthy);

        router.Unbind(endpoint);
        HealthReportEntry red = await UntilStatusAsync(host, "zlink-dealer-jobs", HealthStatus.Unhealthy);
        Assert.Contains("connected peers 0 < 1", red.Description, StringComparison.Ordinal);
        Assert.Equal(0d, red.Data["connected peers"]);
        await Guard.UntilAsync(
            () => host.Get<DealerSocket>("jobs").GetPeers() is [{ WhyNotConnected: { } why }]
                && why.Contains("no process", StringComparison.Ordinal),
            "a further attempt has failed");
        red = await host.CheckAsync("zlink-dealer-jobs");
        Assert.Contains("no process listens at", red.Description, StringComparison.Ordinal);

        router.Bind(endpoint);
        await UntilStatusAsync(host, "zlink-dealer-jobs", HealthStatus.Healthy);
    }

    [Fact]
    public async Task Messages_that_pile_up_degrade_a_socket_and_then_make_it_unhealthy()
    {
        await using var host = new HostFixture(
            ("Sockets:jobs:Health:UnreadMessages:Degraded", "2"), ("Sockets:jobs:Health:UnreadMessages:Unhealthy", "4"));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkRouter("jobs", "inproc://jobs").AddHealthCheck();
        host.Services.AddZlinkDealer("client", "inproc://jobs");
        await host.StartAsync();
        HealthStatus[] expected = [HealthStatus.Healthy, HealthStatus.Degraded, HealthStatus.Degraded, HealthStatus.Unhealthy];
        foreach (HealthStatus status in expected)
        {
            await host.Get<DealerSocket>("client").SendAsync("job", Guard.Token).Guarded();
            Assert.Equal(status, (await host.CheckAsync("zlink-router-jobs")).Status);
        }

        for (int i = 0; i < expected.Length; i++)
        {
            (await host.Get<RouterSocket>("jobs").ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        Assert.Equal(HealthStatus.Healthy, (await host.CheckAsync("zlink-router-jobs")).Status);
    }

    [Fact]
    public async Task Drops_count_once_at_the_look_that_follows_them()
    {
        await using var host = new HostFixture();
        host.Services.AddZlinkRouter("jobs", "inproc://jobs").AddHealthCheck();
        await host.StartAsync();
        Assert.Equal(HealthStatus.Healthy, (await host.CheckAsync("zlink-router-jobs")).Status);
        Assert.True(host.Get<RouterSocket>("jobs").To("nobody"u8).TrySend("lost"u8));
        HealthReportEntry degraded = await host.CheckAsync("zlink-router-jobs");
        Assert.Equal((HealthStatus.Degraded, "dropped messages 1 >= 1"), (degraded.Status, degraded.Description));
        Assert.Equal(HealthStatus.Healthy, (await host.CheckAsync("zlink-router-jobs")).Status);
    }

    [Fact]
    public async Task A_context_is_judged_by_the_figures_of_its_engine()
    {
        await using var host = new HostFixture();
        host.Services.AddZlink(host.Section).AddHealthCheck(tags: ["ready"]);
        host.Services.AddZlinkStream("tcp://127.0.0.1:*", static stream => stream.AddHealthCheck(), "chat");
        await host.StartAsync();
        HealthReportEntry context = await host.CheckAsync("zlink-context");
        Assert.Equal(HealthStatus.Healthy, context.Status);
        Assert.Equal(
            ["pool misses", "queued bytes", "shard delay (ms)"], context.Data.Keys.Order(StringComparer.Ordinal), StringComparer.Ordinal);
        Assert.Equal(["ready"], context.Tags, StringComparer.Ordinal);
        Assert.Equal(HealthStatus.Healthy, (await host.CheckAsync("zlink-stream-chat")).Status);
    }

    [Fact]
    public async Task A_threshold_of_a_context_that_is_passed_makes_it_red()
    {
        await using var host = new HostFixture();
        host.Services.AddZlink().Configure(static options => options.QueuedByteLimit = 100_000).AddHealthCheck();
        host.Services.AddZlinkPair("one", "inproc://pair");
        host.Services.AddZlinkPair("two", connect: "inproc://pair");
        await host.StartAsync();
        while (host.Get<PairSocket>("two").TrySend(new byte[1000]))
        {
        }

        HealthReportEntry red = await host.CheckAsync("zlink-context");
        Assert.Equal(HealthStatus.Unhealthy, red.Status);
        Assert.Contains("queued bytes", red.Description, StringComparison.Ordinal);
        while (host.Get<PairSocket>("one").TryReceive(out Message message))
        {
            message.Dispose();
        }

        Assert.Equal(HealthStatus.Healthy, (await host.CheckAsync("zlink-context")).Status);
    }

    private static async Task<HealthReportEntry> UntilStatusAsync(HostFixture host, string check, HealthStatus status)
    {
        HealthReportEntry entry = default;
        long started = TimeProvider.System.GetTimestamp();
        do
        {
            entry = await host.CheckAsync(check);
            Assert.True(TimeProvider.System.GetElapsedTime(started) < Guard.Limit, $"{check} is {entry.Status}: {entry.Description}");
        }
        while (entry.Status != status);

        return entry;
    }
}
