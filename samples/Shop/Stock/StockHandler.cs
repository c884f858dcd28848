using System.Diagnostics;
using Net.Zlink.Extensions.Hosting;

namespace Samples.Shop;

/// <summary>Which of the stocks a host is.</summary>
internal sealed record StockName(string Text);

/// <summary>Serves orders. Its host drains when it stops, so that no order is lost by that.</summary>
internal sealed class StockHandler(StockName name) : IRequestHandler<Order, Receipt>
{
    public const string Service = "stock";

    public async ValueTask<Receipt> HandleAsync(Order request, CancellationToken cancellationToken)
    {
        Activity.Current?.SetTag("item", request.Item).SetTag("stock", name.Text);

        // As long as a look into a database takes, so that there is something to see.
        await Task.Delay(Random.Shared.Next(1, 8), cancellationToken);
        return new Receipt(request.Item, request.Count, name.Text);
    }
}
