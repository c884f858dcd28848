using Net.Zlink.Sockets.Routing;

namespace Net.Zlink;

/// <summary>Compares routing ids by their bytes, for dictionaries with a routing id as the key: without it two ids are equal only while they are the same memory, which ends with the peer's connection.</summary>
/// <remarks>Safe for any number of threads. Peers choose their ids, so the hash is one whose collisions cannot be prepared. Looked up with a span, nothing is allocated: <c>dictionary.GetAlternateLookup&lt;ReadOnlySpan&lt;byte&gt;&gt;()</c>.</remarks>
public sealed class RoutingIdEqualityComparer : IEqualityComparer<ReadOnlyMemory<byte>>, IAlternateEqualityComparer<ReadOnlySpan<byte>, ReadOnlyMemory<byte>>
{
    private RoutingIdEqualityComparer()
    {
    }

    /// <summary>The only one there is.</summary>
    public static RoutingIdEqualityComparer Instance { get; } = new();

    /// <inheritdoc/>
    public bool Equals(ReadOnlyMemory<byte> x, ReadOnlyMemory<byte> y) => x.Span.SequenceEqual(y.Span);

    /// <inheritdoc/>
    public bool Equals(ReadOnlySpan<byte> alternate, ReadOnlyMemory<byte> other) => alternate.SequenceEqual(other.Span);

    /// <inheritdoc/>
    public int GetHashCode(ReadOnlyMemory<byte> obj) => RoutingIdComparer.Instance.GetHashCode(obj.Span);

    /// <inheritdoc/>
    public int GetHashCode(ReadOnlySpan<byte> alternate) => RoutingIdComparer.Instance.GetHashCode(alternate);

    /// <summary>The key to keep: a copy.</summary>
    /// <param name="alternate">What was looked up.</param>
    /// <returns>Memory of its own.</returns>
    public ReadOnlyMemory<byte> Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();
}
