using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Sockets;

/// <summary>Sets and tables that grow with the peers that come, and become small again when they have gone.</summary>
internal static class PeerSets
{
    // Below, a table is under 20 KB, and one that fills and empties again and again would be made anew each time.
    private const int SmallestTrimmed = 1_024;

    // A table that is emptier than this is made anew: at least half of its places were then used and given back since it was, which pays
    // for it.
    private const int Sparse = 4;

    extension<T>(HashSet<T> set)
    {
        /// <summary>Takes an item out. A set gives nothing back by itself, and who looks through it passes all places that were ever
        /// used.</summary>
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
        /// <summary>As of a set.</summary>
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
