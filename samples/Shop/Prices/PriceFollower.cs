using System.Collections.Concurrent;
using System.Globalization;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>Keeps the newest price of each item, which the front's SPOT node receives.</summary>
internal sealed class PriceFollower([FromKeyedServices(Items.Node)] SpotNode node) : BackgroundService
{
    public ConcurrentDictionary<string, double> Newest { get; } = new(StringComparer.Ordinal);

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        await using SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.SubscribePattern(Items.TopicPrefix + "*");
        await foreach (SpotMessage price in subscriber.ReceiveAllAsync(stoppingToken))
        {
            using (price)
            {
                Newest[price.Topic[Items.TopicPrefix.Length..]] = double.Parse(price.GetString(), CultureInfo.InvariantCulture);
            }
        }
    }
}
