using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Sockets;

/// <summary>Removal from sets and tables that then also shrink.</summary>
internal static class PeerSets
{
    // A smaller table is under 20 KB, and rebuilding it each time it fills and empties would cost more.
    private const int SmallestTrimmed = 1_024;

    // Below this share of used entries a table is rebuilt. At least half of its entries were then removed, which pays for it.
    private const int Sparse = 4;

    extension<T>(HashSet<T> set)
    {
        /// <summary>Removes an item. A set never shrinks by itself, and enumeration visits all entries that were ever used.</summary>
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
        /// <summary>As for a set.</summary>
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
