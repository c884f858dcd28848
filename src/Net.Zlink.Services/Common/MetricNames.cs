using System.Collections.Concurrent;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>The names that metrics show one by one: the first that come, up to a limit. Names come from the wire, too, and a collector
/// keeps each series for ever.</summary>
/// <remarks>Safe for any number of threads. A name that came before costs no memory.</remarks>
internal sealed class MetricNames
{
    /// <summary>The name of all that are not shown one by one.</summary>
    public const string Other = "other";

    private const int MaxBytes = 255; // Of a service's name.

    private readonly ConcurrentDictionary<string, string> _shown = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, string>.AlternateLookup<ReadOnlySpan<char>> _bySpan;
    private readonly int _limit;
    private int _count;

    public MetricNames(int limit)
    {
        _limit = limit;
        _bySpan = _shown.GetAlternateLookup<ReadOnlySpan<char>>();
    }

    /// <returns>The name itself, or <see cref="Other"/>; an empty name stays.</returns>
    public string Of(ReadOnlySpan<char> name)
    {
        if (name.IsEmpty)
        {
            return "";
        }

        if (_bySpan.TryGetValue(name, out string? shown))
        {
            return shown;
        }

        if (Volatile.Read(ref _count) >= _limit || Interlocked.Increment(ref _count) > _limit)
        {
            return Other;
        }

        string added = name.ToString();
        return _shown.GetOrAdd(added, added);
    }

    /// <inheritdoc cref="Of(ReadOnlySpan{char})"/>
    public string Of(ReadOnlySpan<byte> name)
    {
        if (name.Length > MaxBytes)
        {
            return Other;
        }

        Span<char> text = stackalloc char[MaxBytes];
        return Of(text[..Encoding.UTF8.GetChars(name, text)]);
    }
}
