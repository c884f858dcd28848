using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Net.Zlink.Extensions.OpenTelemetry;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using OpenTelemetry.Metrics;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>docs/grafana-dashboard.json asks for series that the Prometheus exporter of OpenTelemetry writes.</summary>
public sealed partial class DashboardTests
{
    [Fact]
    public async Task Each_series_and_label_of_the_dashboard_is_in_what_a_program_exports()
    {
        string exported = await ExportAsync();
        (string Name, string[] Labels)[] asked = [.. Expressions().SelectMany(SeriesOf)];
        Assert.InRange(asked.Length, 20, 100);
        foreach ((string name, string[] labels) in asked)
        {
            string[] lines = [.. exported.Split('\n').Where(line => line.StartsWith(name + "{", StringComparison.Ordinal))];
            Assert.True(lines.Length > 0, $"{name} is not exported:\n{exported}");
            Assert.All(labels, label => Assert.True(
                Array.Exists(lines, line => line.Contains($"{label}=\"", StringComparison.Ordinal)),
                $"{name} has no label {label}: {lines[0]}"));
        }
    }

    [Fact]
    public async Task The_percentiles_of_requests_lie_between_buckets_of_the_exported_histogram()
    {
        string exported = await ExportAsync();
        double[] bounds =
        [
            .. Bucket().Matches(exported).Select(static one => one.Groups["bound"].Value).Distinct(StringComparer.Ordinal)
                .Select(static bound => double.Parse(bound, CultureInfo.InvariantCulture)),
        ];
        Assert.Equal((0.0001, 10.0), (bounds.Min(), bounds.Max()));
        Assert.Equal(16, bounds.Length);
    }

    /// <summary>What a Prometheus server gets of a program with requests that succeed and fail, a SPOT node and STREAM sockets.</summary>
    private static async Task<string> ExportAsync()
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddOpenTelemetry().WithMetrics(static metrics => metrics.AddZlinkInstrumentation().AddPrometheusExporter());
        await using WebApplication web = builder.Build();
        web.MapPrometheusScrapingEndpoint();
        await web.StartAsync(Guard.Token).Guarded();
        await using var context = new ZlinkContext();
        await using var server = new RequestServer(context, "tcp://127.0.0.1:*", Serializers.Json);
        Task serving = server.ServeAsync<Ask, Quote>(static (ask, _) => ask.Currency is "EUR"
            ? ValueTask.FromResult(new Quote(ask.Currency, 1)) : throw new InvalidOperationException(), cancellationToken: Guard.Token);
        await using var client = new RequestClient(context, server.Endpoint, Serializers.Json, "quotes");
        await client.RequestAsync<Ask, Quote>(new Ask("EUR"), Guard.Limit, Guard.Token).Guarded();
        await Assert.ThrowsAsync<ServiceException>(
            () => client.RequestAsync<Ask, Quote>(new Ask("?"), Guard.Limit, Guard.Token).Guarded());
        await using var node = new SpotNode(context);
        using var http = new HttpClient();
        string text = await http.GetStringAsync(new Uri($"{web.Urls.Single()}/metrics"), Guard.Token).Guarded();
        await server.DisposeAsync();
        await serving.Guarded();
        return text;
    }

    private static List<string> Expressions()
    {
        using var dashboard = JsonDocument.Parse(File.ReadAllText(Path.Combine(Repository.Root, "docs", "grafana-dashboard.json")));
        List<string> found = [];
        Collect(dashboard.RootElement);
        return found;

        void Collect(JsonElement element)
        {
            switch (element.ValueKind)
            {
                case JsonValueKind.Object:
                    foreach (JsonProperty one in element.EnumerateObject())
                    {
                        if (one.Name is "expr")
                        {
                            found.Add(one.Value.GetString()!);
                        }

                        Collect(one.Value);
                    }

                    break;
                case JsonValueKind.Array:
                    foreach (JsonElement one in element.EnumerateArray())
                    {
                        Collect(one);
                    }

                    break;
                default:
                    break;
            }
        }
    }

    /// <summary>The series of an expression, with the labels that it filters or sums by. The job is Prometheus's own label.</summary>
    private static IEnumerable<(string Name, string[] Labels)> SeriesOf(string expression)
    {
        string[] by =
        [
            .. By().Matches(expression).SelectMany(static one => one.Groups["labels"].Value.Split(", "))
                .Where(static one => one is not "le"),
        ];
        return Series().Matches(expression).Select(series => (series.Groups["name"].Value,
            Filter().Matches(series.Groups["labels"].Value).Select(static one => one.Groups["label"].Value)
                .Where(static one => one is not "job").Concat(by).ToArray()));
    }

    [GeneratedRegex(@"(?<name>(?:zlink|messaging)_[a-z_]+)\{(?<labels>[^}]*)\}", RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Series();

    [GeneratedRegex(@"(?<label>[a-z_]+)(?:=~|!=|=)", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Filter();

    [GeneratedRegex(@"by \((?<labels>[a-z_, ]+)\)", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex By();

    [GeneratedRegex("messaging_client_operation_duration_seconds_bucket\\{[^}]*le=\"(?<bound>[0-9.E-]+)\"", RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Bucket();
}
