namespace Net.Zlink.Sockets;

/// <summary>Sets that grow with the peers that come, and become small again when they have gone.</summary>
internal static class PeerSets
{
    // Below, a table is under 20 KB, and one that fills and empties again and again would be made anew each time.
    private const int SmallestTrimmed = 1_024;

    // A table that is emptier than this is made anew: at least half of its places were then used and given back since it was, which pays for it.
    private const int Sparse = 4;

    extension<T>(HashSet<T> set)
    {
        /// <summary>Takes an item out. A set gives nothing back by itself, and who looks through it passes all places that were ever used.</summary>
        public bool RemoveAndTrim(T item)
        {
            bool wasThere = set.Remove(item);
            if (set.Capacity > SmallestTrimmed && set.Count < set.Capacity / Sparse)
            {
                set.TrimExcess();
            }

            return wasThere;
        }
    }
}
