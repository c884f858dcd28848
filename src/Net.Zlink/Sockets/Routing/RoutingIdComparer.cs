using System.Runtime.InteropServices;

namespace Net.Zlink.Sockets.Routing;

internal sealed class RoutingIdComparer : IEqualityComparer<byte[]>, IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
{
    public static readonly RoutingIdComparer Instance = new();

    public bool Equals(byte[]? x, byte[]? y) => x == y || (x is not null && y is not null && x.AsSpan().SequenceEqual(y));

    public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

    public int GetHashCode(byte[] obj) => GetHashCode(obj.AsSpan());

    /// <summary>
    /// Peers choose their ids, so the hash must resist prepared collisions. .NET seeds the string hash for that purpose; HashCode has
    /// collisions for every seed.
    /// </summary>
    public int GetHashCode(ReadOnlySpan<byte> alternate)
    {
        int hash = string.GetHashCode(MemoryMarshal.Cast<byte, char>(alternate), StringComparison.Ordinal);
        return (alternate.Length & 1) == 0 ? hash : unchecked((hash * 397) ^ (alternate[^1] + 1));
    }

    public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();
}
