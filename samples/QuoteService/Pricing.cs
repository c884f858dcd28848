using Microsoft.Extensions.Options;
using Net.Zlink.Extensions.Hosting;

namespace Samples.QuoteService;

/// <summary>The section <c>PriceList</c> of the configuration.</summary>
internal sealed class PriceList
{
    public Dictionary<string, decimal> Prices { get; } = new(StringComparer.OrdinalIgnoreCase);
}

/// <summary>Answers each request from the price list.</summary>
internal sealed class Pricing(IOptions<PriceList> list) : IRequestHandler<Ask, Quote>
{
    public ValueTask<Quote> HandleAsync(Ask request, CancellationToken cancellationToken) =>
        ValueTask.FromResult(new Quote(request.Currency, list.Value.Prices[request.Currency]));
}
