using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Sockets.Endpoints;

internal static class PeerSets
{
    // A smaller table is under 20 KB, and rebuilding it each time it fills and empties would cost more.
    private const int SmallestTrimmed = 1_024;

    // Below this share of used entries a table is rebuilt.
    private const int Sparse = 4;

    extension<T>(HashSet<T> set)
    {
        /// <summary>A .NET set never shrinks by itself, and enumeration visits all entries that were ever used.</summary>
        public bool RemoveAndTrim(T item)
        {
            bool wasThere = set.Remove(item);
            if (IsSparse(set.Count, set.Capacity))
            {
                set.TrimExcess();
            }

            return wasThere;
        }
    }

    extension<TKey, TValue>(Dictionary<TKey, TValue> table)
        where TKey : notnull
    {
        public bool RemoveAndTrim(TKey key, [MaybeNullWhen(false)] out TValue value)
        {
            bool wasThere = table.Remove(key, out value);
            if (IsSparse(table.Count, table.Capacity))
            {
                table.TrimExcess();
            }

            return wasThere;
        }
    }

    private static bool IsSparse(int count, int capacity) => capacity > SmallestTrimmed && count < capacity / Sparse;
}
