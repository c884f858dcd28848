using System.Text.Json.Serialization;

namespace Samples.QuoteService;

internal sealed record Ask(string Currency);

internal sealed record Quote(string Currency, decimal Price);

/// <summary>The forms of all JSON, made by the compiler: nothing is reflected upon.</summary>
[JsonSerializable(typeof(Ask))]
[JsonSerializable(typeof(Quote))]
internal sealed partial class Contracts : JsonSerializerContext;
