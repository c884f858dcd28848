using System.Diagnostics;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>Places orders with any of the stocks.</summary>
internal sealed class OrderClient
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(2);

    private readonly RequestClient _stock;
    private readonly OrderCounters _counters;

    public OrderClient([FromKeyedServices(StockHandler.Service)] RequestClient stock, OrderCounters counters, Tracing tracing)
    {
        ArgumentNullException.ThrowIfNull(tracing); // It must exist before the first order.
        _stock = stock;
        _counters = counters;
    }

    public Task WaitUntilReadyAsync(int stocks, CancellationToken cancellation) =>
        _stock.Service.WaitUntilReadyAsync(stocks, cancellation).AsTask();

    public async Task<Receipt> PlaceAsync(Order order, CancellationToken cancellation)
    {
        long started = Stopwatch.GetTimestamp();
        try
        {
            Receipt receipt = await _stock.RequestAsync<Order, Receipt>(order, Limit, cancellation);
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
