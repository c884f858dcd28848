namespace Samples.Shop;

/// <summary>What the shop sells.</summary>
internal static class Items
{
    /// <summary>The key of the SPOT nodes that exchange prices.</summary>
    public const string Node = "prices";

    public const string TopicPrefix = "price:";

    public static readonly string[] All = ["apple", "bread", "cheese", "coffee", "tea"];
}
