using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Polly;
using Polly.Registry;
using Polly.Retry;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Clients, receivers, registries and SPOT nodes of a host.</summary>
public sealed class RequestHostingTests
{
    private const string AnyPort = "tcp://127.0.0.1:*";
    private const ushort RefusalCode = 5;

    [Fact]
    public async Task A_handler_of_the_container_answers_each_request_in_a_scope_of_its_own()
    {
        await using HostFixture server = await ServerAsync();
        await using HostFixture client = await ClientAsync(server);
        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(new Quote("EUR", 1.2m), await AskAsync(client, "EUR"));
        }

        Assert.Equal(3, server.Get<StreamHostingTests.Made>().Count);
        await Guard.UntilAsync(() => server.Get<StreamHostingTests.Made>().Ended == 3, "each scope has ended");
        Assert.Equal(HealthStatus.Healthy, (await server.CheckAsync("zlink-receiver-quotes")).Status);
        Assert.Equal(HealthStatus.Healthy, (await client.CheckAsync("zlink-client-quotes")).Status);
    }

    [Fact]
    public async Task A_host_that_stops_under_load_loses_no_request_while_another_one_serves()
    {
        await using HostFixture first = await ServerAsync();
        await using HostFixture second = await ServerAsync();
        await using var client = new HostFixture();
        client.Services.AddZlinkJson(Contracts.Default);
        client.Services.AddZlinkGateway(
            gateway => gateway.AddReceiver("quotes", EndpointOf(first)).AddReceiver("quotes", EndpointOf(second)));
        client.Services.AddZlinkClient("quotes");
        await client.StartAsync();
        RequestClient quotes = client.Get<RequestClient>("quotes");
        await quotes.Service.WaitUntilReadyAsync(2, Guard.Token).Guarded();

        Task stopping = Task.CompletedTask;
        for (int i = 0; i < 2000; i++)
        {
            Task<Quote>[] asked = [.. Enumerable.Range(0, 10).Select(_ => AskAsync(client, "EUR"))];
            if (i == 20)
            {
                stopping = first.StopAsync();
            }

            Assert.All(await Task.WhenAll(asked).Guarded(), static quote => Assert.Equal(1.2m, quote.Price));
            if (i > 20 && stopping.IsCompleted)
            {
                break;
            }
        }

        await stopping.Guarded();
        Assert.Single(first.Log, static line => line.Message.StartsWith("Receiver \"quotes\" is drained", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_client_is_unhealthy_until_its_receiver_is_there_and_a_handler_that_throws_degrades_the_receiver()
    {
        await using HostFixture server = await ServerAsync();
        await using HostFixture client = await ClientAsync(server);
        await Assert.ThrowsAsync<ServiceException>(() => AskAsync(client, "bad"));
        HealthReportEntry degraded = await server.CheckAsync("zlink-receiver-quotes");
        Assert.Equal((HealthStatus.Degraded, "handler faults 1 >= 1"), (degraded.Status, degraded.Description));
        Assert.Equal(HealthStatus.Healthy, (await server.CheckAsync("zlink-receiver-quotes")).Status);

        await server.StopAsync();
        ServiceClient service = client.Get<RequestClient>("quotes").Service;
        await Guard.UntilAsync(() => service.ReadyCount == 0, "the receiver is gone");
        HealthReportEntry red = await client.CheckAsync("zlink-client-quotes");
        Assert.Equal(HealthStatus.Unhealthy, red.Status);
        Assert.StartsWith("ready receivers 0 < 1", red.Description, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("waits")]
    [InlineData("blocks")]
    public async Task A_host_stops_in_time_though_a_handler_ignores_its_token_and_names_the_handler(string how)
    {
        using var end = new ManualResetEventSlim();
        await using var server = new HostFixture();
        server.Services.Configure<HostOptions>(static options => options.ShutdownTimeout = TimeSpan.FromSeconds(1));
        server.Services.AddSingleton(end);
        server.Services.AddZlinkJson(Contracts.Default);
        server.Services.AddZlinkReceiver<Stubborn, Ask, Quote>("quotes", AnyPort);
        await server.StartAsync();
        await using HostFixture client = await ClientAsync(server);
        Task<Quote> asked = AskAsync(client, how);
        await Guard.UntilAsync(() => server.Get<ServiceReceiver>("quotes").GetStatistics().Running == 1, "it runs");

        await server.StopAsync();

        Assert.Single(server.Log, static line => line.Message is "Receiver \"quotes\" ends with 1 unfinished requests: "
            + "Stubborn ignores its cancellation token, or blocks");
        Assert.True((await Assert.ThrowsAsync<ServiceException>(() => asked.Guarded())).WasExecuted);
        end.Set();
    }

    [Fact]
    public async Task Handlers_of_a_host_that_block_run_beside_each_other()
    {
        using var both = new Barrier(2);
        await using var server = new HostFixture();
        server.Services.AddZlinkJson(Contracts.Default);
        server.Services.AddZlinkReceiver<Ask, Quote>("quotes", AnyPort, (ask, cancellation) =>
        {
            Assert.True(both.SignalAndWait(Guard.Limit, cancellation)); // It goes on when the other one is there.
            return ValueTask.FromResult(new Quote(ask.Currency, 1));
        });
        await server.StartAsync();
        await using HostFixture client = await ClientAsync(server);
        await Task.WhenAll(AskAsync(client, "EUR"), AskAsync(client, "USD")).Guarded();
    }

    [Fact]
    public async Task A_receiver_that_drains_is_not_ready()
    {
        await using HostFixture server = await ServerAsync();
        var soon = new DrainOptions { MinDelay = TimeSpan.Zero, IdleTime = TimeSpan.Zero };
        await server.Get<ServiceReceiver>("quotes").DrainAsync(soon, Guard.Token).Guarded();
        HealthReportEntry draining = await server.CheckAsync("zlink-receiver-quotes");
        Assert.Equal((HealthStatus.Unhealthy, "the receiver is being drained and refuses requests"), (draining.Status,
            draining.Description));
    }

    [Fact]
    public async Task Two_modules_each_bring_the_types_of_their_requests()
    {
        await using var host = new HostFixture();
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkJson(StockContracts.Default);
        host.Services.AddZlinkReceiver<Ask, Quote>("quotes", "inproc://quotes", static (ask, _) =>
            ValueTask.FromResult(new Quote(ask.Currency, 1)));
        host.Services.AddZlinkReceiver<Stock, Stock>("stock", "inproc://stock", static (stock, _) => ValueTask.FromResult(stock));
        host.Services.AddZlinkClient("quotes", "inproc://quotes");
        host.Services.AddZlinkClient("stock", "inproc://stock");
        await host.StartAsync();
        await host.Get<RequestClient>("quotes").Service.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        await host.Get<RequestClient>("stock").Service.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        Assert.Equal(new Quote("EUR", 1), await AskAsync(host, "EUR"));
        Assert.Equal(new Stock("nuts"),
            await host.Get<RequestClient>("stock").RequestAsync<Stock, Stock>(new Stock("nuts"), Guard.Limit, Guard.Token).Guarded());
        using ServiceReply raw = await host.Get<RequestClient>("stock").Service.RequestAsync(
            """{"item_name":"x"}"""u8.ToArray(), Guard.Limit, Guard.Token).Guarded();
        Assert.Equal("""{"item_name":"x"}""", System.Text.Encoding.UTF8.GetString(raw.Span));
    }

    [Fact]
    public async Task A_serializer_that_does_not_know_a_type_refuses_its_requests_and_says_so_once()
    {
        await using var server = new HostFixture();
        server.Services.AddZlinkJson(Contracts.Default);
        server.Services.AddZlinkReceiver<Stock, Quote>("quotes", AnyPort, static (_, _) => throw new InvalidOperationException("called"));
        await server.StartAsync();
        await using HostFixture client = await ClientAsync(server);
        RequestClient quotes = client.Get<RequestClient>("quotes");
        for (int i = 0; i < 2; i++)
        {
            var refused = await Assert.ThrowsAsync<ServiceException>(() => AskAsync(client, "EUR"));
            Assert.Equal((ServiceError.Refused, RefusalCode, false), (refused.Error, refused.Code, refused.WasExecuted));
            Assert.Contains("does not know Stock", refused.Message, StringComparison.Ordinal);
        }

        Assert.Single(server.Log, static line => line.Message.StartsWith("The serializer does not know Stock", StringComparison.Ordinal));
        Assert.Equal(2, server.Get<ServiceReceiver>("quotes").GetStatistics().HandlerFaults);
    }

    [Fact]
    public async Task A_reply_that_cannot_be_written_has_failed_and_the_log_says_so_once()
    {
        await using var server = new HostFixture();
        server.Services.AddZlinkJson(Contracts.Default);
        server.Services.AddZlinkReceiver<Ask, Stock>("quotes", AnyPort, static (ask, _) => ValueTask.FromResult(new Stock(ask.Currency)));
        await server.StartAsync();
        await using HostFixture client = await ClientAsync(server);
        for (int i = 0; i < 2; i++)
        {
            var failed = await Assert.ThrowsAsync<ServiceException>(() => AskAsync(client, "EUR"));
            Assert.Equal((ServiceError.Failed, true), (failed.Error, failed.WasExecuted));
            Assert.Contains("the reply Stock could not be written", failed.Message, StringComparison.Ordinal);
        }

        Assert.Single(server.Log, static line => line.Message.StartsWith("The serializer does not know Stock", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_registry_brings_a_client_and_a_receiver_of_two_hosts_together()
    {
        await using var registry = new HostFixture();
        registry.Services.AddZlinkRegistry(AnyPort, AnyPort);
        await registry.StartAsync();
        await using HostFixture server = await ServerAsync(registry.Get<ServiceRegistry>().RouterEndpoint);
        await using var client = new HostFixture();
        client.Services.AddZlinkJson(Contracts.Default);
        client.Services.AddZlinkGateway(gateway => gateway.FollowRegistries(registry.Get<ServiceRegistry>().PublisherEndpoint));
        client.Services.AddZlinkClient("quotes");
        await client.StartAsync();
        await client.Get<RequestClient>("quotes").Service.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        Assert.Equal(new Quote("EUR", 1.2m), await AskAsync(client, "EUR"));
        Assert.Equal(HealthStatus.Healthy, (await server.CheckAsync("zlink-receiver-quotes")).Status);
    }

    [Fact]
    public async Task A_pipeline_of_Polly_sends_again_what_was_not_executed()
    {
        await using HostFixture server = await ServerAsync();
        await using var client = new HostFixture();
        int retries = 0;
        client.Services.AddZlinkJson(Contracts.Default);
        client.Services.AddZlinkClient("quotes", EndpointOf(server)).UsePolicy(static services =>
            new PollyPolicy(services.GetRequiredService<ResiliencePipelineProvider<string>>().GetPipeline("quotes")));
        client.Services.AddResiliencePipeline("quotes", pipeline => pipeline.AddRetry(new RetryStrategyOptions
        {
            MaxRetryAttempts = 2,
            Delay = TimeSpan.Zero,
            ShouldHandle = new PredicateBuilder().Handle<ServiceException>(static failure => failure.Message.Contains(
                "InvalidOperationException", StringComparison.Ordinal) || !failure.WasExecuted),
            OnRetry = _ =>
            {
                retries++;
                return default;
            },
        }));
        await client.StartAsync();
        await Assert.ThrowsAsync<ServiceException>(() => AskAsync(client, "bad"));
        Assert.Equal(2, retries);
        Assert.Equal(new Quote("EUR", 1.2m), await AskAsync(client, "EUR"));
    }

    [Fact]
    public async Task A_receiver_has_its_settings_from_the_configuration_and_refuses_wrong_ones()
    {
        await using var host = new HostFixture(
            ("Receivers:quotes:Bind", AnyPort), ("Receivers:quotes:MaxConcurrency", "3"),
            ("Receivers:quotes:Socket:SendHighWaterMark", "17"));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkReceiver<Ask, Quote>("quotes", null, static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1)));
        await host.StartAsync();
        Assert.Equal(17, host.Get<ServiceReceiver>("quotes").Socket.Options.SendHighWaterMark);
        Assert.NotEmpty(host.Get<ServiceReceiver>("quotes").Socket.BoundEndpoints);

        await using var wrong = new HostFixture(("Receivers:quotes:MaxConcurrency", "none"));
        wrong.Services.AddZlink(wrong.Section);
        wrong.Services.AddZlinkJson(Contracts.Default);
        wrong.Services.AddZlinkReceiver<Ask, Quote>("quotes", AnyPort, static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1)));
        var failure = await Assert.ThrowsAsync<ZlinkSettingException>(wrong.StartAsync);
        Assert.Contains("Zlink:Receivers:quotes:MaxConcurrency", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Spot_nodes_of_two_hosts_publish_to_each_other()
    {
        await using var first = new HostFixture();
        first.Services.AddZlinkSpotNode("prices", "inproc://first");
        await first.StartAsync();
        SpotNode here = first.Get<SpotNode>("prices");
        Assert.NotNull(here);
        await using var both = new HostFixture();
        both.Services.AddZlinkSpotNode("one", "inproc://one");
        both.Services.AddZlinkSpotNode("two", "inproc://two", static node => node.Connect("inproc://one"));
        await both.StartAsync();
        Assert.NotSame(both.Get<SpotNode>("one"), both.Get<SpotNode>("two"));
        await both.Get<SpotNode>("two").WaitForPeersAsync(1, Guard.Token).Guarded();
    }

    private static string EndpointOf(HostFixture server) => server.Get<ServiceReceiver>("quotes").Socket.LastEndpoint;

    private static Task<Quote> AskAsync(HostFixture client, string currency) =>
        client.Get<RequestClient>("quotes").RequestAsync<Ask, Quote>(new Ask(currency), Guard.Limit, Guard.Token).AsTask();

    private static async Task<HostFixture> ServerAsync(string? registry = null)
    {
        var server = new HostFixture();
        server.Services.AddSingleton<StreamHostingTests.Made>();
        server.Services.AddScoped<StreamHostingTests.Tracked>();
        server.Services.AddZlinkJson(Contracts.Default);
        ZlinkReceiverBuilder receiver = server.Services.AddZlinkReceiver<Pricing, Ask, Quote>("quotes", AnyPort).AddHealthCheck();
        if (registry is not null)
        {
            receiver.UseRegistries(registry);
        }

        await server.StartAsync();
        return server;
    }

    private static async Task<HostFixture> ClientAsync(HostFixture server)
    {
        var client = new HostFixture();
        client.Services.AddZlinkJson(Contracts.Default);
        client.Services.AddZlinkClient("quotes", EndpointOf(server)).AddHealthCheck();
        await client.StartAsync();
        await client.Get<RequestClient>("quotes").Service.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        return client;
    }

    public sealed class Stubborn(ManualResetEventSlim end) : IRequestHandler<Ask, Quote>
    {
        public async ValueTask<Quote> HandleAsync(Ask request, CancellationToken cancellationToken)
        {
            if (request.Currency is "blocks")
            {
                end.Wait(CancellationToken.None);
            }

            await Task.Run(() => end.Wait(CancellationToken.None), CancellationToken.None);
            return new Quote(request.Currency, 1);
        }
    }

    // As in docs/hosting.md.
    private sealed class PollyPolicy(ResiliencePipeline pipeline) : IRequestPolicy
    {
        public ValueTask<TReply> ExecuteAsync<TState, TReply>(
            Func<TState, CancellationToken, ValueTask<TReply>> attempt, TState state, CancellationToken cancellationToken) =>
            pipeline.ExecuteAsync(attempt, state, cancellationToken);
    }

    public sealed class Pricing(StreamHostingTests.Tracked tracked) : IRequestHandler<Ask, Quote>
    {
        public async ValueTask<Quote> HandleAsync(Ask request, CancellationToken cancellationToken)
        {
            Assert.NotNull(tracked);
            await Task.Yield();
            return request.Currency is "bad" ? throw new InvalidOperationException("no such currency") : new Quote(request.Currency, 1.2m);
        }
    }
}
