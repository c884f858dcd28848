using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>Topics and filters as bytes: their limits, and dictionaries by them that are searched without an array.</summary>
internal sealed class TopicBytes : IEqualityComparer<byte[]>, IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
{
    /// <summary>Longer ones cannot be published by a native node.</summary>
    public const int MaxLength = 255;

    public static readonly TopicBytes Comparer = new();

    /// <summary>Writes a topic that may be published or subscribed.</summary>
    /// <exception cref="ArgumentException">It has not 1 to 255 bytes of UTF-8.</exception>
    public static ReadOnlySpan<byte> Encode(string topic, Span<byte> into, string argument)
    {
        ArgumentNullException.ThrowIfNull(topic, argument);
        return topic.Length > 0 && Encoding.UTF8.TryGetBytes(topic, into, out int length) ? into[..length] : throw Invalid(argument);
    }

    /// <summary>As <see cref="Encode"/>; the empty prefix is everything.</summary>
    public static byte[] OfPrefix(string prefix, string argument)
    {
        ArgumentNullException.ThrowIfNull(prefix, argument);
        byte[] bytes = Encoding.UTF8.GetBytes(prefix);
        return bytes.Length <= MaxLength ? bytes : throw Invalid(argument);
    }

    /// <summary>The prefix of a pattern in the native core's text: one asterisk, at the end.</summary>
    /// <exception cref="ArgumentException">It is no such pattern.</exception>
    public static byte[] OfPattern(string pattern, string argument)
    {
        ArgumentNullException.ThrowIfNull(pattern, argument);
        if (pattern.Length == 0 || pattern.IndexOf('*') != pattern.Length - 1 || Encoding.UTF8.GetByteCount(pattern) > MaxLength)
        {
            throw new ArgumentException(
                $"A pattern has 1 to {MaxLength} bytes of UTF-8 and one asterisk, which is its last character.", argument);
        }

        return Encoding.UTF8.GetBytes(pattern[..^1]);
    }

    public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

    public int GetHashCode([DisallowNull] byte[] obj) => GetHashCode(obj.AsSpan());

    public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

    public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();

    public int GetHashCode(ReadOnlySpan<byte> alternate)
    {
        var hash = default(HashCode); // Seeded for each process: a peer cannot make topics collide on purpose.
        hash.AddBytes(alternate);
        return hash.ToHashCode();
    }

    private static ArgumentException Invalid(string argument) => new($"A topic has 1 to {MaxLength} bytes of UTF-8.", argument);
}
