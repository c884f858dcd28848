using System.Diagnostics.Metrics;
using Net.Zlink.Extensions.OpenTelemetry;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using OpenTelemetry;
using OpenTelemetry.Metrics;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>OpenTelemetry keeps 1,000 metrics of a process and 2,000 points of each, and drops what comes beyond.</summary>
public sealed class ManyClientsTests
{
    private const int Clients = 150;

    [Fact]
    public async Task The_metrics_of_the_application_are_whole_beside_150_clients_in_one_context()
    {
        var metrics = new List<Metric>();
        string name = $"many-{Guid.NewGuid():N}";
        using var application = new Meter(name);
        using MeterProvider provider = Sdk.CreateMeterProviderBuilder().AddZlinkInstrumentation().AddMeter(name)
            .AddInMemoryExporter(metrics).Build();
        await using var context = new ZlinkContext(new ZlinkContextOptions { Name = name });
        await using var server = new RequestServer(context, "tcp://127.0.0.1:*", Serializers.Json);
        Task serving = server.ServeAsync<Ask, Quote>(
            static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1)), cancellationToken: Guard.Token);
        RequestClient[] clients =
        [
            .. Enumerable.Range(0, Clients).Select(
                i => new RequestClient(context, server.Endpoint, Serializers.Json, $"service-{i:000}")),
        ];
        foreach (RequestClient client in clients)
        {
            await client.RequestAsync<Ask, Quote>(new Ask("EUR"), Guard.Limit, Guard.Token).Guarded();
        }

        application.CreateCounter<long>("orders").Add(7); // Made last: what is beyond a limit would be this one.
        Assert.True(provider.ForceFlush());

        Metric orders = Assert.Single(metrics, static one => one.Name is "orders");
        Assert.Equal(7, PointsOf(orders).Single().Sum);
        Metric[] own = [.. metrics.Where(one => one.MeterName is "Net.Zlink" && one.MeterTags!.Any(
            tag => name.Equals(tag.Value)))];
        Assert.InRange(own.Length, 40, 100);
        Assert.All(own, static one => Assert.InRange(PointsOf(one).Count, 0, 500));
        foreach (string each in new[]
        {
            "messaging.client.operation.duration", "messaging.client.sent.messages", "zlink.gateway.outstanding",
        })
        {
            List<(string Service, long Sum)> points = PointsOf(own.Single(one => string.Equals(one.Name, each, StringComparison.Ordinal)));
            Assert.Equal(51, points.Count);
            Assert.Contains(points, static point => point.Service is "service-000");
            Assert.Contains(points, static point => point.Service is "other");
        }

        Assert.Equal(Clients, PointsOf(own.Single(static one => one.Name is "messaging.client.sent.messages")).Sum(static one => one.Sum));
        Array.ForEach(clients, static client => client.Dispose());
        await server.DisposeAsync();
        await serving.Guarded();
    }

    private static List<(string Service, long Sum)> PointsOf(Metric metric)
    {
        List<(string, long)> points = [];
        foreach (ref readonly MetricPoint point in metric.GetMetricPoints())
        {
            string service = "";
            foreach ((string key, object? value) in point.Tags)
            {
                service = key is "messaging.destination.name" ? $"{value}" : service;
            }

            points.Add((service, metric.MetricType is MetricType.LongSum ? point.GetSumLong() : 0));
        }

        return points;
    }
}
