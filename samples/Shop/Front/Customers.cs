using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>Customers who order all the time, so that the page has something to show.</summary>
internal sealed class Customers(OrderClient orders, ILogger<Customers> logger) : BackgroundService
{
    private const int Count = 4;

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        await orders.WaitUntilReadyAsync(1, stoppingToken);
        await Task.WhenAll(Enumerable.Range(0, Count).Select(_ => OrderAsync(stoppingToken)));
    }

    private async Task OrderAsync(CancellationToken stoppingToken)
    {
        while (!stoppingToken.IsCancellationRequested)
        {
            try
            {
                string item = Items.All[Random.Shared.Next(Items.All.Length)];
                await orders.PlaceAsync(new Order(item, Random.Shared.Next(1, 9)), stoppingToken);
            }
            catch (Exception e) when (e is ServiceException or TimeoutException)
            {
                ShopLog.OrderFailed(logger, e.Message);
            }
            catch (OperationCanceledException)
            {
                return;
            }

            await Task.Delay(Random.Shared.Next(10, 60), stoppingToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
