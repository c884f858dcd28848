namespace Samples.Shop;

/// <summary>What the shop sells.</summary>
internal static class Items
{
    public const string TopicPrefix = "price:";

    public static readonly string[] All = ["apple", "bread", "cheese", "coffee", "tea"];
}
