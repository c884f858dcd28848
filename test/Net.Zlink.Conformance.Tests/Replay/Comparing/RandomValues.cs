using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Comparing;

/// <summary>The values that differ on every run: learned where they are first seen, the same wherever the id is the same.</summary>
internal sealed class RandomValues
{
    private readonly Dictionary<string, byte[]> _seen = new(StringComparer.Ordinal);

    /// <summary>The bytes as the played side, or the application, must send them in this run.</summary>
    public byte[] Fill(byte[] recorded, IEnumerable<RandomField> fields)
    {
        byte[] bytes = [.. recorded];
        foreach (RandomField field in fields)
        {
            if (field.Id is not null && _seen.TryGetValue(field.Id, out byte[]? value))
            {
                value.CopyTo(bytes, field.Offset);
            }
            else
            {
                Learn(field, recorded);
            }
        }

        return bytes;
    }

    /// <summary>Null when the bytes are as expected; otherwise a sentence with the first difference.</summary>
    public string? Compare(ReadOnlySpan<byte> expected, ReadOnlySpan<byte> actual, IEnumerable<RandomField> fields)
    {
        byte[] wanted = expected.ToArray();
        if (expected.Length == actual.Length)
        {
            foreach (RandomField field in fields)
            {
                bool known = field.Id is not null && _seen.ContainsKey(field.Id);
                ReadOnlySpan<byte> value = known ? _seen[field.Id!] : actual.Slice(field.Offset, field.Length);
                value.CopyTo(wanted.AsSpan(field.Offset));
                Learn(field, actual);
            }
        }

        int same = actual.CommonPrefixLength(wanted);
        return same == actual.Length && same == wanted.Length ? null
            : $"expected {Show(wanted, same)}, got {Show(actual, same)} (first difference at byte {same})";
    }

    /// <summary>Bytes for a message to people: around the place that matters.</summary>
    public static string Show(ReadOnlySpan<byte> bytes, int around = 0)
    {
        const int Shown = 48;
        int from = Math.Max(0, Math.Min(around - (Shown / 2), bytes.Length - Shown));
        int count = Math.Min(Shown, bytes.Length - from);
        string hex = Convert.ToHexStringLower(bytes.Slice(from, count));
        return $"{bytes.Length} bytes [{(from > 0 ? ".." : string.Empty)}{hex}{(from + count < bytes.Length ? ".." : string.Empty)}]";
    }

    private void Learn(RandomField field, ReadOnlySpan<byte> bytes)
    {
        if (field.Id is not null)
        {
            _seen.TryAdd(field.Id, bytes.Slice(field.Offset, field.Length).ToArray());
        }
    }
}
