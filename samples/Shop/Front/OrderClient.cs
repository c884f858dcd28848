using System.Diagnostics;
using System.Text.Json;
using Net.Zlink;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>Places orders with any of the stocks.</summary>
internal sealed class OrderClient
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(2);

    private readonly ServiceClient _stock;
    private readonly OrderCounters _counters;

    public OrderClient(Gateway gateway, OrderCounters counters, Tracing tracing)
    {
        ArgumentNullException.ThrowIfNull(tracing); // It must exist before the first order.
        _stock = gateway.GetService(StockService.Service);
        _counters = counters;
    }

    public Task WaitUntilReadyAsync(int stocks, CancellationToken cancellation) =>
        _stock.WaitUntilReadyAsync(stocks, cancellation).AsTask();

    public async Task<Receipt> PlaceAsync(Order order, CancellationToken cancellation)
    {
        using Activity? activity = Tracing.Source.StartActivity("order", ActivityKind.Client);
        activity?.SetTag("item", order.Item);
        long started = Stopwatch.GetTimestamp();
        try
        {
            using var request = new MessageBuilder();
            request.Add(activity?.Id ?? "").Add(JsonSerializer.SerializeToUtf8Bytes(order, ShopJson.Default.Order));
            using ServiceReply reply = await _stock.RequestAsync(request, Limit, cancellation);
            Receipt receipt = JsonSerializer.Deserialize(reply.Span, ShopJson.Default.Receipt)!;
            _counters.Add(receipt.Stock, Stopwatch.GetElapsedTime(started));
            return receipt;
        }
        catch (Exception e) when (e is ServiceException or TimeoutException)
        {
            _counters.AddFailure();
            throw;
        }
    }
}
