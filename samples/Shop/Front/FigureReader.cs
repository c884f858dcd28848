using Microsoft.Extensions.Diagnostics.HealthChecks;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>Puts together what the page shows.</summary>
internal sealed class FigureReader(
    ServiceGateway gateway, OrderCounters counters, PriceFollower prices, Tracing tracing, HealthCheckService health)
{
    private const int ShownTraces = 8;

    public async Task<ShopFigures> ReadAsync(CancellationToken cancellation)
    {
        HealthReport report = await health.CheckHealthAsync(cancellation);
        (long orders, long failed, double median, double p99, double[] history, Dictionary<string, long> served) = counters.Read();
        return new ShopFigures(
            $"{report.Status}: {string.Join(", ", report.Entries.Values.Select(static entry => entry.Description))}",
            orders, failed, history[^1], median, p99, history, new SortedDictionary<string, double>(prices.Newest, StringComparer.Ordinal),
            [.. gateway.GetReceivers().Select(static link => new StockFigures(
                link.Endpoint, link.IsReady, link.IsDraining, link.SentMessages, link.OutstandingRequests))],
            served, tracing.Newest(ShownTraces));
    }
}
