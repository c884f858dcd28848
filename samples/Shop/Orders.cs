using System.Text.Json.Serialization;

namespace Samples.Shop;

/// <summary>What a customer wants.</summary>
internal sealed record Order(string Item, int Count);

/// <summary>What a stock answers.</summary>
internal sealed record Receipt(string Item, int Count, string Stock);

/// <summary>The forms of all JSON, made by the compiler.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(Order))]
[JsonSerializable(typeof(Receipt))]
[JsonSerializable(typeof(ShopFigures))]
internal sealed partial class ShopJson : JsonSerializerContext;
