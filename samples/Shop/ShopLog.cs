namespace Samples.Shop;

/// <summary>What the shop logs.</summary>
internal static partial class ShopLog
{
    [LoggerMessage(1, LogLevel.Warning, "An order failed: {Reason}")]
    public static partial void OrderFailed(ILogger logger, string reason);
}
