using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>A name or an endpoint as the wire has it: any bytes, compared and ordered as unsigned bytes; a text only for people.</summary>
internal sealed class ServiceText : IEquatable<ServiceText>, IComparable<ServiceText>
{
    /// <summary>Native readers cut longer ones.</summary>
    public const int MaxLength = 255;

    private readonly byte[] _bytes;
    private string? _text;

    public ServiceText(ReadOnlySpan<byte> bytes) => _bytes = bytes.ToArray();

    public ServiceText(string text)
    {
        _bytes = Encoding.UTF8.GetBytes(text);
        _text = text;
    }

    public ReadOnlySpan<byte> Span => _bytes;

    public bool IsEmpty => _bytes.Length == 0;

    /// <summary>The text, from 1 to 255 bytes of UTF-8: what may be sent.</summary>
    /// <exception cref="ArgumentException">It is empty or longer.</exception>
    public static ServiceText Checked(string text, string argument)
    {
        ArgumentException.ThrowIfNullOrEmpty(text, argument);
        var checkedText = new ServiceText(text);
        return checkedText._bytes.Length <= MaxLength ? checkedText
            : throw new ArgumentException(
                $"\"{text[..32]}...\" has {checkedText._bytes.Length} bytes in UTF-8; native readers cut what is longer than {MaxLength}.",
                argument);
    }

    public static bool operator ==(ServiceText? left, ServiceText? right) => left is null ? right is null : left.Equals(right);

    public static bool operator !=(ServiceText? left, ServiceText? right) => !(left == right);

    public int CompareTo(ServiceText? other) => other is null ? 1 : Span.SequenceCompareTo(other.Span);

    public bool Equals([NotNullWhen(true)] ServiceText? other) => other is not null && Span.SequenceEqual(other.Span);

    public override bool Equals(object? obj) => Equals(obj as ServiceText);

    public override int GetHashCode()
    {
        var hash = default(HashCode);
        hash.AddBytes(_bytes);
        return hash.ToHashCode();
    }

    public override string ToString() => _text ??= Encoding.UTF8.GetString(_bytes);
}

/// <summary>A service of one kind. Ordered as lists are: by kind, then by the bytes of the name.</summary>
/// <param name="Kind">The native service type, as it came.</param>
/// <param name="Name">The name of the service.</param>
internal readonly record struct ServiceKey(ushort Kind, ServiceText Name) : IComparable<ServiceKey>
{
    public int CompareTo(ServiceKey other) => Kind != other.Kind ? Kind.CompareTo(other.Kind) : Name.CompareTo(other.Name);
}

/// <summary>One endpoint of one service.</summary>
internal readonly record struct EntryKey(ServiceKey Service, ServiceText Endpoint);
