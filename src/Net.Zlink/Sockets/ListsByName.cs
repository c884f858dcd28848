using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Sockets;

/// <summary>Any number of things by name, those of one name in the order in which they were added. Not safe for several threads: its owner has a lock.</summary>
/// <remarks>A list searched from end to end took 2 s of the time that a socket needed to connect 10,000 names.</remarks>
internal sealed class ListsByName<T>
{
    private readonly Dictionary<string, List<T>> _lists = new(StringComparer.Ordinal);

    /// <summary>All of them.</summary>
    public IEnumerable<T> All => _lists.Values.SelectMany(static list => list);

    public int Count { get; private set; }

    public void Add(string name, T one)
    {
        if (!_lists.TryGetValue(name, out List<T>? list))
        {
            _lists.Add(name, list = []);
        }

        list.Add(one);
        Count++;
    }

    /// <summary>False if it is not there.</summary>
    public bool Remove(string name, T one)
    {
        if (!_lists.TryGetValue(name, out List<T>? list) || !list.Remove(one))
        {
            return false;
        }

        Count--;
        if (list.Count == 0)
        {
            _lists.Remove(name);
        }

        return true;
    }

    /// <summary>The first of a name that fits.</summary>
    public bool TryFind(string name, Predicate<T> fits, [MaybeNullWhen(false)] out T found)
    {
        int at = _lists.TryGetValue(name, out List<T>? list) ? list.FindIndex(fits) : -1;
        found = at < 0 ? default : list![at];
        return at >= 0;
    }

    /// <summary>Those of a name, as they are now.</summary>
    public T[] Of(string name) => _lists.TryGetValue(name, out List<T>? list) ? [.. list] : [];
}
