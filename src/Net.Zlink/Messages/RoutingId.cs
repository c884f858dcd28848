using System.ComponentModel;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink;

/// <summary>The name of a peer: 0 to 255 bytes that the peer chose or that its ROUTER made for it. Two ids are equal when their bytes
/// are.</summary>
/// <remarks>
/// A value type without a copy of the bytes: an id that a message or an event gave is valid as long as that message or event is.
/// <see cref="Copy"/> makes one that lives on its own, for a dictionary or a log. Safe for any number of threads.
/// The hash is seeded for each process, because peers choose their ids.
/// </remarks>
/// <example>
/// <code>
/// Dictionary&lt;RoutingId, int&gt; requests = [];
/// using Message message = await router.ReceiveAsync();
/// requests[message.RoutingId.Copy()] = 1;
/// </code>
/// </example>
[JsonConverter(typeof(RoutingIdJsonConverter))]
[TypeConverter(typeof(RoutingIdTypeConverter))]
public readonly struct RoutingId : IEquatable<RoutingId>, ISpanParsable<RoutingId>
{
    /// <summary>The most bytes that an id has (docs/protocol.md, HELLO).</summary>
    public const int MaxLength = 255;

    /// <summary>Wraps bytes without a copy.</summary>
    /// <param name="bytes">The bytes of the id. They must not change while the id is in use.</param>
    /// <exception cref="ArgumentException"><paramref name="bytes"/> has more than <see cref="MaxLength"/> bytes.</exception>
    public RoutingId(ReadOnlyMemory<byte> bytes)
    {
        if (bytes.Length > MaxLength)
        {
            throw new ArgumentException($"A routing id has at most {MaxLength} bytes, not {bytes.Length}.", nameof(bytes));
        }

        Memory = bytes;
    }

    /// <summary>The bytes of the id.</summary>
    public ReadOnlyMemory<byte> Memory { get; }

    /// <summary>The bytes of the id.</summary>
    public ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>The number of bytes, 0 to <see cref="MaxLength"/>.</summary>
    public int Length => Memory.Length;

    /// <summary>Whether the id has no bytes: no id was set, or the peer has none.</summary>
    public bool IsEmpty => Memory.IsEmpty;

    /// <summary>An id without a copy of <paramref name="bytes"/>.</summary>
    /// <param name="bytes">The bytes of the id.</param>
    public static implicit operator RoutingId(ReadOnlyMemory<byte> bytes) => new(bytes);

    /// <summary>An id without a copy of <paramref name="bytes"/>.</summary>
    /// <param name="bytes">The bytes of the id.</param>
    public static implicit operator RoutingId(byte[] bytes) => new(bytes);

    /// <summary>The bytes of the id, not a copy.</summary>
    /// <param name="id">The id.</param>
    public static implicit operator ReadOnlyMemory<byte>(RoutingId id) => id.Memory;

    /// <summary>The bytes of the id, not a copy.</summary>
    /// <param name="id">The id.</param>
    public static implicit operator ReadOnlySpan<byte>(RoutingId id) => id.Span;

    /// <summary>Whether two ids have the same bytes.</summary>
    /// <param name="left">One id.</param>
    /// <param name="right">The other id.</param>
    public static bool operator ==(RoutingId left, RoutingId right) => left.Equals(right);

    /// <summary>Whether two ids differ in a byte.</summary>
    /// <param name="left">One id.</param>
    /// <param name="right">The other id.</param>
    public static bool operator !=(RoutingId left, RoutingId right) => !left.Equals(right);

    /// <summary>The UTF-8 bytes of a text as an id, for an option or a call.</summary>
    /// <param name="text">The text, for example <c>server-1</c>.</param>
    /// <returns>The id, with bytes of its own.</returns>
    /// <exception cref="ArgumentException"><paramref name="text"/> needs more than <see cref="MaxLength"/> bytes.</exception>
    public static RoutingId FromText(string text) => new(Encoding.UTF8.GetBytes(text));

    /// <summary>
    /// Parses the text that <see cref="ToString"/> returns: <c>0x</c> and hexadecimal digits, or a text whose UTF-8 bytes are the id.
    /// </summary>
    /// <param name="s">The text.</param>
    /// <param name="provider">Not used.</param>
    /// <returns>The id, with bytes of its own.</returns>
    /// <exception cref="FormatException">The text is too long, or begins with <c>0x</c> without pairs of hexadecimal digits.</exception>
    public static RoutingId Parse(string s, IFormatProvider? provider)
    {
        ArgumentNullException.ThrowIfNull(s);
        return Parse(s.AsSpan(), provider);
    }

    /// <inheritdoc cref="Parse(string, IFormatProvider?)"/>
    public static RoutingId Parse(ReadOnlySpan<char> s, IFormatProvider? provider) => TryParse(s, provider, out RoutingId id) ? id
        : throw new FormatException(
            $"\"{s}\" is not a routing id: write 0x and pairs of hexadecimal digits, or a text of at most {MaxLength} bytes.");

    /// <inheritdoc cref="TryParse(ReadOnlySpan{char}, IFormatProvider?, out RoutingId)"/>
    public static bool TryParse([NotNullWhen(true)] string? s, IFormatProvider? provider, out RoutingId result)
    {
        result = default;
        return s is not null && TryParse(s.AsSpan(), provider, out result);
    }

    /// <summary>Parses the text that <see cref="ToString"/> returns.</summary>
    /// <param name="s">The text.</param>
    /// <param name="provider">Not used.</param>
    /// <param name="result">The id, with bytes of its own.</param>
    /// <returns>False if <see cref="Parse(string, IFormatProvider?)"/> would throw.</returns>
    public static bool TryParse(ReadOnlySpan<char> s, IFormatProvider? provider, out RoutingId result)
    {
        result = default;
        byte[] bytes;
        if (s.StartsWith("0x", StringComparison.Ordinal))
        {
            ReadOnlySpan<char> digits = s[2..];
            bytes = new byte[digits.Length / 2];
            if (digits.Length % 2 != 0 || Convert.FromHexString(digits, bytes, out _, out _) != System.Buffers.OperationStatus.Done)
            {
                return false;
            }
        }
        else
        {
            bytes = new byte[Encoding.UTF8.GetByteCount(s)];
            Encoding.UTF8.GetBytes(s, bytes);
        }

        if (bytes.Length > MaxLength)
        {
            return false;
        }

        result = new RoutingId(bytes);
        return true;
    }

    /// <summary>Copies the id, for use after the message or event that it came with.</summary>
    /// <returns>An equal id.</returns>
    public RoutingId Copy() => new(ToArray());

    /// <summary>Copies the bytes of the id.</summary>
    /// <returns>A new array.</returns>
    public byte[] ToArray() => Span.ToArray();

    /// <summary>Whether the other id has the same bytes.</summary>
    /// <param name="other">The other id.</param>
    /// <returns>True if all bytes are equal.</returns>
    public bool Equals(RoutingId other) => Span.SequenceEqual(other.Span);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is RoutingId other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => RoutingIdComparer.Instance.GetHashCode(Span);

    /// <summary>
    /// The text of the id if it is printable ASCII and does not begin with <c>0x</c>, else <c>0x</c> and hexadecimal digits.
    /// </summary>
    /// <returns>A text that <see cref="Parse(string, IFormatProvider?)"/> accepts. Empty for an empty id.</returns>
    public override string ToString() => IsEmpty ? "" : RoutingIdText.Of(Span);
}

internal sealed class RoutingIdJsonConverter : JsonConverter<RoutingId>
{
    public override RoutingId Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        Parse(reader.GetString());

    public override RoutingId ReadAsPropertyName(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        Parse(reader.GetString());

    public override void Write(Utf8JsonWriter writer, RoutingId value, JsonSerializerOptions options) =>
        writer.WriteStringValue(value.ToString());

    public override void WriteAsPropertyName(Utf8JsonWriter writer, RoutingId value, JsonSerializerOptions options) =>
        writer.WritePropertyName(value.ToString());

    private static RoutingId Parse(string? text) => RoutingId.TryParse(text, CultureInfo.InvariantCulture, out RoutingId id) ? id
        : throw new JsonException($"\"{text}\" is not a routing id.");
}

internal sealed class RoutingIdTypeConverter : TypeConverter
{
    public override bool CanConvertFrom(ITypeDescriptorContext? context, Type sourceType) => sourceType == typeof(string)
        || base.CanConvertFrom(context, sourceType);

    public override object? ConvertFrom(ITypeDescriptorContext? context, CultureInfo? culture, object value) =>
        value is string text ? RoutingId.Parse(text, culture) : base.ConvertFrom(context, culture, value);
}
