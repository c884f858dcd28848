using System.Text.Json;

namespace Samples.Shop;

/// <summary>Orders over HTTP, stops a stock meanwhile, and checks what the page would show.</summary>
internal static class Demo
{
    private const int Orders = 200;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);

    public static async Task<int> RunAsync(Cluster cluster, CancellationToken cancellation)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(Limit);
        using var http = new HttpClient { BaseAddress = new Uri(cluster.Address) };
        ShopFigures opened = await UntilAsync(http, static figures => figures.Traces.Count > 0
            && figures.Stocks.Count(static stock => stock.IsReady) == Cluster.StockCount
            && figures.Prices.Count == Items.All.Length, limit.Token);
        Console.WriteLine($"Opened: {opened.Health}; prices of {opened.Prices.Count} items");

        Task stopping = cluster.StopStockAsync(0, limit.Token);
        int right = 0;
        for (int i = 0; i < Orders; i++)
        {
            var order = new Order(Items.All[i % Items.All.Length], i + 1);
            using HttpResponseMessage response = await http.PostAsJsonAsync(
                new Uri("/orders", UriKind.Relative), order, ShopJson.Default.Order, limit.Token);
            Receipt? receipt = response.IsSuccessStatusCode
                ? await response.Content.ReadFromJsonAsync(ShopJson.Default.Receipt, limit.Token) : null;
            right += receipt?.Count == order.Count && string.Equals(receipt.Item, order.Item, StringComparison.Ordinal) ? 1 : 0;
        }

        await stopping;
        ShopFigures after = await UntilAsync(http,
            static figures => figures.Health.StartsWith("Degraded", StringComparison.Ordinal), limit.Token);
        Console.WriteLine($"One stock is drained: {after.Health}");
        Console.WriteLine($"{right} of {Orders} orders are right; {after.Failed} of all {after.Orders} failed");
        Console.WriteLine($"Median {after.MedianMilliseconds:F1} ms, 99 % within {after.P99Milliseconds:F1} ms; "
            + string.Join(", ", after.Served.OrderBy(static pair => pair.Key, StringComparer.Ordinal)
                .Select(static pair => $"{pair.Key}: {pair.Value}")));
        bool isRight = right == Orders && after.Failed == 0 && after.Served.Count == Cluster.StockCount;
        Console.WriteLine(isRight ? "The shop works." : "FAIL: the shop does not work.");
        return isRight ? 0 : 1;
    }

    private static async Task<ShopFigures> UntilAsync(HttpClient http, Func<ShopFigures, bool> condition, CancellationToken cancellation)
    {
        ShopFigures? figures = null;
        try
        {
            while (true)
            {
                figures = (await http.GetFromJsonAsync(
                    new Uri("/figures", UriKind.Relative), ShopJson.Default.ShopFigures, cancellation))!;
                if (condition(figures))
                {
                    return figures;
                }

                await Task.Delay(50, cancellation);
            }
        }
        catch (OperationCanceledException)
        {
            Console.Error.WriteLine(
                $"FAIL: the figures are not as they should be: {JsonSerializer.Serialize(figures!, ShopJson.Default.ShopFigures)}");
            throw;
        }
    }
}
