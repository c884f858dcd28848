using System.Diagnostics;
using System.Diagnostics.Metrics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.Metrics.Testing;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Extensions.OpenTelemetry;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>One trace over two hosts, and the metrics of both, as OpenTelemetry collects them.</summary>
public sealed class TracingTests
{
    [Fact]
    public async Task A_request_and_its_handler_are_one_trace_over_two_contexts()
    {
        string service = $"quotes-{Guid.NewGuid():N}"; // The source is the process's: other tests have requests, too.
        var spans = new List<Activity>();
        await using var server = new HostFixture();
        server.Services.AddZlinkJson(Contracts.Default);
        server.Services.AddZlinkReceiver<Ask, Quote>(service, "tcp://127.0.0.1:*", static (ask, _) =>
            ask.Currency is "bad" ? throw new InvalidOperationException() : ValueTask.FromResult(new Quote(ask.Currency, 1)));
        server.Services.AddOpenTelemetry().WithTracing(tracing => tracing.AddZlinkInstrumentation().AddInMemoryExporter(spans));
        await server.StartAsync();
        await using var client = new HostFixture();
        client.Services.AddZlinkJson(Contracts.Default);
        client.Services.AddZlinkClient(service, server.Get<ServiceReceiver>(service).Socket.LastEndpoint);
        await client.StartAsync();

        RequestClient quotes = client.Get<RequestClient>(service);
        await quotes.RequestAsync<Ask, Quote>(new Ask("EUR"), Guard.Limit, Guard.Token).Guarded();
        (Activity send, Activity process) = await PairAsync(server, spans, service, 1);
        Assert.Equal((send.TraceId, send.SpanId), (process.TraceId, process.ParentSpanId));
        Assert.True(process.HasRemoteParent);
        Assert.Equal((ActivityKind.Producer, ActivityKind.Consumer), (send.Kind, process.Kind));
        Assert.Equal(($"request {service}", $"process {service}"), (send.DisplayName, process.DisplayName));
        Assert.Equal(("127.0.0.1", server.Get<ServiceReceiver>(service).Socket.LastEndpoint.Split(':')[^1]),
            (send.GetTagItem("server.address"), $"{send.GetTagItem("server.port")}"));
        Assert.Equal(("zlink", service, "send"), (send.GetTagItem("messaging.system"), send.GetTagItem("messaging.destination.name"),
            send.GetTagItem("messaging.operation.type")));

        await Assert.ThrowsAsync<ServiceException>(
            () => quotes.RequestAsync<Ask, Quote>(new Ask("bad"), Guard.Limit, Guard.Token).Guarded());
        (send, process) = await PairAsync(server, spans, service, 2);
        Assert.Equal((ActivityStatusCode.Error, "failed"), (send.Status, send.GetTagItem("error.type")));
        Assert.Equal((ActivityStatusCode.Error, "System.InvalidOperationException"), (process.Status, process.GetTagItem("error.type")));
    }

    [Fact]
    public async Task Tracestate_and_baggage_reach_the_handler_within_their_limits()
    {
        string service = $"quotes-{Guid.NewGuid():N}";
        await using var host = new HostFixture();
        var seen = new List<(string? State, string Baggage)>();
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkReceiver<Ask, Quote>(service, "tcp://127.0.0.1:*", (ask, _) =>
        {
            Activity span = Activity.Current!;
            seen.Add((span.TraceStateString, string.Join(',', span.Baggage.Select(static one => $"{one.Key}={one.Value}"))));
            return ValueTask.FromResult(new Quote(ask.Currency, 1));
        });
        host.Services.AddOpenTelemetry().WithTracing(static tracing => tracing.AddZlinkInstrumentation());
        await host.StartAsync();
        await using var client = new RequestClient(
            host.Get<ZlinkContext>(), host.Get<ServiceReceiver>(service).Socket.LastEndpoint, Serializers.Json, service);
        await AskWithAsync(new string('s', 500), ("user", "Müller, A=B"), ("long", new string('x', 600)));
        await AskWithAsync(new string('s', 513), ("too-long", new string('x', 1_100)), ("no key", "1"), ("short", "1"));
        Assert.Equal((new string('s', 500), $"long={new string('x', 600)},user=Müller, A=B"), seen[0]);
        Assert.Equal((null, "short=1"), seen[1]);

        async Task AskWithAsync(string state, params (string Key, string Value)[] baggage)
        {
            using var span = new Activity("caller");
            span.TraceStateString = state;
            Array.ForEach(baggage, one => span.AddBaggage(one.Key, one.Value));
            span.Start();
            await client.RequestAsync<Ask, Quote>(new Ask("EUR"), Guard.Limit, Guard.Token).Guarded();
        }
    }

    [Fact]
    public async Task Metrics_of_sockets_and_services_are_collected_with_durations_as_histograms()
    {
        var metrics = new List<Metric>();
        await using HostFixture host = await MeteredAsync(
            one => one.Services.AddOpenTelemetry().WithMetrics(meters => meters.AddZlinkInstrumentation().AddInMemoryExporter(metrics)));
        await AskAsync(host);
        Assert.True(host.Get<MeterProvider>().ForceFlush());
        Assert.Contains(metrics, static one => one.Name is "zlink.socket.received");
        foreach (string name in new[] { "messaging.client.operation.duration", "messaging.process.duration" })
        {
            MetricPoint point = Assert.Single(metrics.Where(one => string.Equals(one.Name, name, StringComparison.Ordinal))
                .SelectMany(PointsOf), static one => TagsOf(one)["messaging.destination.name"] is "metered");
            Assert.InRange(BucketOf(point), 0, 10); // A request takes some microseconds, or some milliseconds: seconds would be the last.
        }
    }

    [Fact]
    public async Task Metrics_of_services_belong_to_the_meter_factory_of_their_host()
    {
        await using HostFixture one = await MeteredAsync();
        await using HostFixture two = await MeteredAsync();
        using var seen = new MetricCollector<double>(one.Get<IMeterFactory>(), "Net.Zlink", "messaging.process.duration");
        using var other = new MetricCollector<double>(two.Get<IMeterFactory>(), "Net.Zlink", "messaging.process.duration");
        await AskAsync(one);
        await seen.WaitForMeasurementsAsync(1, Guard.Limit).Guarded();
        Assert.Empty(other.GetMeasurementSnapshot());
    }

    private static List<MetricPoint> PointsOf(Metric metric)
    {
        List<MetricPoint> points = [];
        foreach (ref readonly MetricPoint point in metric.GetMetricPoints())
        {
            points.Add(point);
        }

        return points;
    }

    private static Dictionary<string, object?> TagsOf(MetricPoint point)
    {
        Dictionary<string, object?> tags = new(StringComparer.Ordinal);
        foreach ((string key, object? value) in point.Tags)
        {
            tags[key] = value;
        }

        return tags;
    }

    /// <summary>The number of the bucket with the only measurement.</summary>
    private static int BucketOf(in MetricPoint point)
    {
        int number = 0;
        foreach (HistogramBucket bucket in point.GetHistogramBuckets())
        {
            if (bucket.BucketCount > 0)
            {
                return number;
            }

            number++;
        }

        return -1;
    }

    private static async Task<HostFixture> MeteredAsync(Action<HostFixture>? configure = null)
    {
        var host = new HostFixture();
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkReceiver<Ask, Quote>(
            "metered", "tcp://127.0.0.1:*", static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1)));
        configure?.Invoke(host);
        await host.StartAsync();
        return host;
    }

    private static async Task AskAsync(HostFixture host)
    {
        await using var client = new RequestClient(
            host.Get<ZlinkContext>(), host.Get<ServiceReceiver>("metered").Socket.LastEndpoint, Serializers.Json, "metered");
        await client.RequestAsync<Ask, Quote>(new Ask("EUR"), Guard.Limit, Guard.Token).Guarded();
    }

    private static async Task<(Activity Send, Activity Process)> PairAsync(
        HostFixture host, List<Activity> spans, string service, int number)
    {
        Activity[] sent = [];
        Activity[] processed = [];
        await Guard.UntilAsync(
            () =>
            {
                host.Get<TracerProvider>().ForceFlush();
                Activity[] all = [.. spans.ToArray().Where(one => string.Equals(
                    one.GetTagItem("messaging.destination.name") as string, service, StringComparison.Ordinal))];
                sent = [.. all.Where(static one => one.Kind == ActivityKind.Producer)];
                processed = [.. all.Where(static one => one.Kind == ActivityKind.Consumer)];
                return sent.Length == number && processed.Length == number;
            },
            "both spans were exported");
        return (sent[^1], processed[^1]);
    }
}
