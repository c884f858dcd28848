using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Net.Zlink;

/// <summary>Values as JSON in UTF-8, by reflection or with the metadata of a source-generated context. Allocates nothing of its own for a
/// message.</summary>
/// <example>
/// <code>
/// var json = new JsonMessageSerializer();
/// await socket.SendAsync(new Ask("EUR"), json);
/// </code>
/// </example>
/// <remarks>Safe for any number of threads. A program that is trimmed or compiled ahead of time needs a context. Without options of their
/// own both forms write the same JSON, so one side may have a context and the other none.</remarks>
public sealed class JsonMessageSerializer : IMessageSerializer
{
    private const string ReflectionNeeded =
        "Members of the types are found by reflection. Give a JsonSerializerContext if the program is trimmed or compiled ahead of time.";

    // A writer costs 200 bytes and more. It writes one value, and then another one somewhere else.
    [ThreadStatic]
    private static Utf8JsonWriter? t_writer;

    // Each type is written by the first options that know it, with their own naming and converters.
    private readonly JsonSerializerOptions[] _options;

    // The last options know every type, so those of a context go before them.
    private readonly bool _reflects;

    /// <summary>All types, by reflection: a record needs no attribute and no context.</summary>
    /// <exception cref="InvalidOperationException">Reflection is switched off for System.Text.Json in this program, as
    /// <c>PublishTrimmed</c> and <c>PublishAot</c> do: give a context.</exception>
    [RequiresUnreferencedCode(ReflectionNeeded)]
    [RequiresDynamicCode(ReflectionNeeded)]
    public JsonMessageSerializer()
        : this([OfReflection()], reflects: true)
    {
    }

    /// <summary>Types of one context, without reflection, so trimming and ahead-of-time compilation work.</summary>
    /// <param name="context">The context, such as <c>Contracts.Default</c>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> is null.</exception>
    /// <example>
    /// <code>
    /// var json = new JsonMessageSerializer(Contracts.Default);
    /// await socket.SendAsync(new Ask("EUR"), json);
    ///
    /// [JsonSerializable(typeof(Ask)), JsonSerializable(typeof(Quote))]
    /// internal partial class Contracts : JsonSerializerContext;
    /// </code>
    /// </example>
    public JsonMessageSerializer(JsonSerializerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        _options = [context.Options];
    }

    /// <summary>Types that some options know, for converters or other names, such as <see cref="JsonSerializerOptions.Web"/>.</summary>
    /// <param name="options">With a <see cref="JsonSerializerOptions.TypeInfoResolver"/>; read-only from now on.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="InvalidOperationException">The options have no resolver.</exception>
    public JsonMessageSerializer(JsonSerializerOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.MakeReadOnly();
        _options = [options];
    }

    private JsonMessageSerializer(JsonSerializerOptions[] options, bool reflects)
    {
        _options = options;
        _reflects = reflects;
    }

    /// <summary>A serializer that knows the types of one more context. Where both know a type, this one's context is used.</summary>
    /// <param name="context">The context.</param>
    /// <returns>The serializer; this one stays as it is.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> is null.</exception>
    public JsonMessageSerializer With(JsonSerializerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        return _reflects
            ? new JsonMessageSerializer([.. _options[..^1], context.Options, _options[^1]], reflects: true)
            : new JsonMessageSerializer([.. _options, context.Options], reflects: false);
    }

    /// <summary>A serializer that knows all further types by reflection. Where a context knows a type, the context is used.</summary>
    /// <returns>The serializer; this one stays as it is.</returns>
    /// <inheritdoc cref="JsonMessageSerializer.JsonMessageSerializer()" path="/exception"/>
    [RequiresUnreferencedCode(ReflectionNeeded)]
    [RequiresDynamicCode(ReflectionNeeded)]
    public JsonMessageSerializer WithReflection() =>
        _reflects ? this : new JsonMessageSerializer([.. _options, OfReflection()], reflects: true);

    /// <inheritdoc/>
    /// <exception cref="NotSupportedException">The context does not know the type: add <c>[JsonSerializable(typeof(T))]</c>. By
    /// reflection: System.Text.Json does not support it.</exception>
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
    /// <exception cref="NotSupportedException">The context does not know the type: add <c>[JsonSerializable(typeof(T))]</c>. By
    /// reflection: System.Text.Json does not support it.</exception>
    public T Deserialize<T>(ReadOnlySpan<byte> bytes) => JsonSerializer.Deserialize(bytes, TypeOf<T>())!;

    [RequiresUnreferencedCode(ReflectionNeeded)]
    [RequiresDynamicCode(ReflectionNeeded)]
    private static JsonSerializerOptions OfReflection() => JsonSerializer.IsReflectionEnabledByDefault
        ? JsonSerializerOptions.Default
        : throw new InvalidOperationException("This program is built without reflection for System.Text.Json, so the messages need a "
            + "JsonSerializerContext: AddZlinkJson(Contracts.Default) or new JsonMessageSerializer(Contracts.Default).");

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
