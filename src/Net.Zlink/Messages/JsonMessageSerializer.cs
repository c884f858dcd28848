using System.Buffers;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Net.Zlink;

/// <summary>Values as JSON in UTF-8, with the metadata of a source-generated context: without reflection, so trimming and ahead-of-time
/// compilation work. Allocates nothing of its own for a message.</summary>
/// <example>
/// <code>
/// var json = new JsonMessageSerializer(Contracts.Default);
/// await socket.SendAsync(new Ask("EUR"), json);
///
/// [JsonSerializable(typeof(Ask)), JsonSerializable(typeof(Quote))]
/// internal partial class Contracts : JsonSerializerContext;
/// </code>
/// </example>
/// <remarks>Safe for any number of threads.</remarks>
public sealed class JsonMessageSerializer : IMessageSerializer
{
    // A writer costs 200 bytes and more. It writes one value, and then another one somewhere else.
    [ThreadStatic]
    private static Utf8JsonWriter? t_writer;

    // Each type is written by the first options that know it, with their own naming and converters.
    private readonly JsonSerializerOptions[] _options;

    /// <summary>Types of one context.</summary>
    /// <param name="context">The context, such as <c>Contracts.Default</c>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> is null.</exception>
    public JsonMessageSerializer(JsonSerializerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        _options = [context.Options];
    }

    /// <summary>Types that some options know, for several contexts or converters.</summary>
    /// <param name="options">With a <see cref="JsonSerializerOptions.TypeInfoResolver"/>; read-only from now on.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="InvalidOperationException">The options have no resolver.</exception>
    public JsonMessageSerializer(JsonSerializerOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.MakeReadOnly();
        _options = [options];
    }

    private JsonMessageSerializer(JsonSerializerOptions[] options) => _options = options;

    /// <summary>A serializer that knows the types of one more context. Where both know a type, this one's context is used.</summary>
    /// <param name="context">The context.</param>
    /// <returns>The serializer; this one stays as it is.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> is null.</exception>
    public JsonMessageSerializer With(JsonSerializerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        return new JsonMessageSerializer([.. _options, context.Options]);
    }

    /// <inheritdoc/>
    /// <exception cref="NotSupportedException">The context does not know the type: add <c>[JsonSerializable(typeof(T))]</c>.</exception>
    public void Serialize<T>(T value, IBufferWriter<byte> writer)
    {
        JsonTypeInfo<T> type = TypeOf<T>();
        Utf8JsonWriter json = t_writer ?? new Utf8JsonWriter(writer, new JsonWriterOptions { SkipValidation = true });
        t_writer = null;
        json.Reset(writer);
        try
        {
            JsonSerializer.Serialize(json, value, type);
            json.Flush();
        }
        finally
        {
            json.Reset(NoOutput.Instance);
            t_writer = json;
        }
    }

    /// <inheritdoc/>
    /// <exception cref="JsonException">The bytes are no JSON of that type.</exception>
    /// <exception cref="NotSupportedException">The context does not know the type: add <c>[JsonSerializable(typeof(T))]</c>.</exception>
    public T Deserialize<T>(ReadOnlySpan<byte> bytes) => JsonSerializer.Deserialize(bytes, TypeOf<T>())!;

    private JsonTypeInfo<T> TypeOf<T>()
    {
        for (int i = 0; i < _options.Length - 1; i++)
        {
            if (_options[i].TryGetTypeInfo(typeof(T), out JsonTypeInfo? type))
            {
                return (JsonTypeInfo<T>)type;
            }
        }

        return (JsonTypeInfo<T>)_options[^1].GetTypeInfo(typeof(T)); // Throws where it knows the type neither.
    }

    private sealed class NoOutput : IBufferWriter<byte>
    {
        public static readonly NoOutput Instance = new();

        public void Advance(int count)
        {
        }

        public Memory<byte> GetMemory(int sizeHint = 0) => throw new NotSupportedException();

        public Span<byte> GetSpan(int sizeHint = 0) => throw new NotSupportedException();
    }
}
