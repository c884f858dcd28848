namespace Samples.Shop;

/// <summary>One trace, in milliseconds.</summary>
internal sealed record TraceFigures(string Id, string Item, string Stock, double Total, double UntilStock, double InStock);

/// <summary>One stock as the gateway sees it.</summary>
internal sealed record StockFigures(string Endpoint, bool IsReady, bool IsDraining, long Sent, long Outstanding);

/// <summary>All that the page shows.</summary>
internal sealed record ShopFigures(
    string Health, long Orders, long Failed, double OrdersPerSecond, double MedianMilliseconds, double P99Milliseconds, double[] History,
    IReadOnlyDictionary<string, double> Prices, IReadOnlyList<StockFigures> Stocks, IReadOnlyDictionary<string, long> Served,
    IReadOnlyList<TraceFigures> Traces);
