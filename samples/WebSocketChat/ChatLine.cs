using System.Text.Json.Serialization;

namespace Samples.WebSocketChat;

/// <summary>One frame of the chat, as JSON. From a tab: "name" or "say", with its text. To a tab: "joined", "left", "renamed" or "said",
/// with who it is about and who is there.</summary>
internal sealed record ChatLine(string Kind, string Text, string Name = "", IReadOnlyCollection<string>? Here = null);

/// <summary>Writes and reads <see cref="ChatLine"/> without reflection.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(ChatLine))]
internal sealed partial class ChatJson : JsonSerializerContext;
