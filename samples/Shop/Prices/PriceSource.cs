using System.Globalization;
using System.Text;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>Publishes a new price of each item four times a second, on a SPOT node.</summary>
internal sealed class PriceSource([FromKeyedServices(Items.Node)] SpotNode node) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        double[] prices = [.. Items.All.Select(static item => 1.0 + item.Length)];
        using var ticks = new PeriodicTimer(TimeSpan.FromMilliseconds(250));
        while (await ticks.WaitForNextTickAsync(stoppingToken))
        {
            for (int i = 0; i < prices.Length; i++)
            {
                prices[i] = Math.Max(0.5, prices[i] * (1 + ((Random.Shared.NextDouble() - 0.5) / 50)));
                node.TryPublish(Items.TopicPrefix + Items.All[i],
                    Encoding.UTF8.GetBytes(prices[i].ToString("F2", CultureInfo.InvariantCulture)));
            }
        }
    }
}
