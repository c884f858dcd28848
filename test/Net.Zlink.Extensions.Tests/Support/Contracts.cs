using System.Buffers;
using System.Text.Json.Serialization;
using MemoryPack;
using MessagePack;

namespace Net.Zlink.Extensions.Tests;

// begin fi, with NATS too
public sealed record Ask(string Currency);

public sealed record Quote(string Currency, decimal Price);
// end fi

// begin g, with NATS too
[MemoryPackable]
[MessagePackObject]
public sealed partial record Tick([property: Key(0)] string Currency, [property: Key(1)] decimal Price);
// end g

[JsonSerializable(typeof(Ask))]
[JsonSerializable(typeof(Quote))]
internal sealed partial class Contracts : JsonSerializerContext;

/// <summary>Of another module, which names its properties in another way.</summary>
public sealed record Stock(string ItemName);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(Stock))]
internal sealed partial class StockContracts : JsonSerializerContext;

// begin g

/// <summary>MemoryPack behind the seam.</summary>
internal sealed class MemoryPackMessageSerializer : IMessageSerializer
{
    public void Serialize<T>(T value, IBufferWriter<byte> writer) => MemoryPackSerializer.Serialize(writer, value);

    public T Deserialize<T>(ReadOnlySpan<byte> bytes) => MemoryPackSerializer.Deserialize<T>(bytes)!;
}

/// <summary>MessagePack behind the seam. It reads from memory, so the bytes are copied.</summary>
internal sealed class MessagePackMessageSerializer : IMessageSerializer
{
    public void Serialize<T>(T value, IBufferWriter<byte> writer) => MessagePackSerializer.Serialize(writer, value);

    public T Deserialize<T>(ReadOnlySpan<byte> bytes) => MessagePackSerializer.Deserialize<T>(bytes.ToArray());
}
// end g

internal static class Serializers
{
    public static readonly IMessageSerializer Json = new JsonMessageSerializer(Contracts.Default);
}
