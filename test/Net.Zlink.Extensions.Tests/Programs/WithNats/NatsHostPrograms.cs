using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using NATS.Client.Core;
using NATS.Client.OpenTelemetry;
using NATS.Extensions.Microsoft.DependencyInjection;
using NATS.Net;
using Net.Zlink.Discovery.Tests.Nats;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Programs (e) and (i) with NATS.Net: the last column of the comparison in docs/comparison.md.</summary>
public sealed class NatsHostPrograms
{
    [SlowFact]
    public async Task Program_e_with_NATS_is_a_host_with_settings_health_telemetry_and_a_graceful_stop()
    {
        await using NatsServer nats = await NatsServer.StartAsync();
        string[] args = [$"--Nats:Url={nats.Url}", "--Logging:LogLevel:Default=None"];
        var work = new GatedWork();

        // begin e
        HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
        builder.Services.AddNatsClient(client => client.ConfigureOptions(options => options.Configure(
            settings => settings.Opts = settings.Opts with { Url = builder.Configuration.GetValue<string>("Nats:Url")! })));
        builder.Services.AddHealthChecks().AddCheck<NatsCheck>("nats");
        builder.Services.AddHostedService(provider => new Worker(provider.GetRequiredService<INatsConnection>(), work));
        builder.Services.AddOpenTelemetry()
            .WithTracing(static tracing => tracing.AddNatsClientInstrumentation())
            .WithMetrics(static metrics => metrics.AddNatsClientInstrumentation());
        // end e
        work.Watch(builder.Services);

        // begin e
        IHost host = builder.Build();
        // end e

        await host.StartAsync(Guard.Token).Guarded();
        await using var client = new NatsClient(nats.Url);
        var patient = new NatsSubOpts { Timeout = Guard.Limit, ThrowIfNoResponders = false };
        await work.CheckAsync(host, async job =>
        {
            NatsMsg<string> reply;
            do
            {
                reply = await client.RequestAsync<string, string>("jobs", job, replyOpts: patient, cancellationToken: Guard.Token);
            }
            while (reply.HasNoResponders); // The worker has not subscribed yet.

            return reply.Data;
        });
    }

    [Fact]
    public async Task Program_i_with_NATS_tests_a_handler_and_a_message_without_a_network()
    {
        // begin i
        Assert.Equal(new Quote("EUR", 2), await QuoteAsync(new Ask("EUR")));
        await Assert.ThrowsAsync<KeyNotFoundException>(async () => await QuoteAsync(new Ask("XXX")));
        var message = new NatsMsg<string>("prices", null, 3, null, "EUR", null, NatsMsgFlags.None);
        Assert.Equal("EUR", message.Data);
        // end i
    }

    // begin i
    private static ValueTask<Quote> QuoteAsync(Ask ask) =>
        ask.Currency is "EUR" ? ValueTask.FromResult(new Quote("EUR", 2)) : throw new KeyNotFoundException(ask.Currency);
    // end i

    // begin e
    internal sealed class Worker(INatsConnection nats, GatedWork work) : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            await using INatsSub<string> jobs = await nats.SubscribeCoreAsync<string>("jobs", cancellationToken: CancellationToken.None);
            using CancellationTokenRegistration stop = stoppingToken.Register(() => _ = jobs.DrainAsync(CancellationToken.None).AsTask());
            await foreach (NatsMsg<string> job in jobs.Msgs.ReadAllAsync(CancellationToken.None))
            {
                await job.ReplyAsync(await work.DoAsync(job.Data!), cancellationToken: CancellationToken.None);
            }
        }
    }
    // end e
}
