namespace Samples.Shop;

/// <summary>What the shop logs.</summary>
internal static partial class ShopLog
{
    [LoggerMessage(1, LogLevel.Information, "{Stock} serves orders at {Endpoint}")]
    public static partial void StockServes(ILogger logger, string stock, string endpoint);

    [LoggerMessage(2, LogLevel.Information, "{Stock} is drained: {Accepted} orders served, {Refused} refused, {Unfinished} cut")]
    public static partial void StockIsDrained(ILogger logger, string stock, long accepted, long refused, int unfinished);

    [LoggerMessage(3, LogLevel.Warning, "An order failed: {Reason}")]
    public static partial void OrderFailed(ILogger logger, string reason);
}
