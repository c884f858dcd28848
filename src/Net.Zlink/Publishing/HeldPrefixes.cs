using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink;

internal sealed class HeldPrefixes
{
    private readonly Dictionary<byte[], int> _counts = new(ByBytes.Instance);
    private int _longest;

    public bool Add(ReadOnlySpan<byte> prefix)
    {
        Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> lookup = _counts.GetAlternateLookup<ReadOnlySpan<byte>>();
        lookup.TryGetValue(prefix, out int count);
        lookup[prefix] = count + 1;
        _longest = Math.Max(_longest, prefix.Length);
        return count == 0;
    }

    public bool Remove(ReadOnlySpan<byte> prefix)
    {
        Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> lookup = _counts.GetAlternateLookup<ReadOnlySpan<byte>>();
        if (!lookup.TryGetValue(prefix, out int count))
        {
            return false;
        }

        if (count > 1)
        {
            lookup[prefix] = count - 1;
            return false;
        }

        return lookup.Remove(prefix);
    }

    public bool Covers(ReadOnlySpan<byte> topic, int minLength, int maxLength)
    {
        Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> lookup = _counts.GetAlternateLookup<ReadOnlySpan<byte>>();
        for (int length = minLength; length <= Math.Min(maxLength, Math.Min(topic.Length, _longest)); length++)
        {
            if (lookup.ContainsKey(topic[..length]))
            {
                return true;
            }
        }

        return false;
    }

    private sealed class ByBytes : IEqualityComparer<byte[]>, IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
    {
        public static readonly ByBytes Instance = new();

        public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

        public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

        public int GetHashCode([DisallowNull] byte[] obj) => GetHashCode(obj.AsSpan());

        public int GetHashCode(ReadOnlySpan<byte> alternate)
        {
            var hash = new HashCode();
            hash.AddBytes(alternate);
            return hash.ToHashCode();
        }

        public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();
    }
}
