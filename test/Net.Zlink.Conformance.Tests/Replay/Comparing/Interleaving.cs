namespace Net.Zlink.Conformance.Tests.Replay.Comparing;

/// <summary>
/// A file lists the events of all connections of a socket in one line, and only the order on each connection is compared. So what happened
/// must be a way to deal the expected line out to the connections, each getting its own in order.
/// </summary>
internal static class Interleaving
{
    public static bool Exists<TExpected, TActual>(
        IReadOnlyList<TExpected> expected, IReadOnlyList<IReadOnlyList<TActual>> perConnection, Func<TExpected, TActual, bool> same)
    {
        int[] taken = new int[perConnection.Count];
        return perConnection.Sum(line => line.Count) == expected.Count && Deal(0);

        bool Deal(int next)
        {
            if (next == expected.Count)
            {
                return true;
            }

            for (int line = 0; line < taken.Length; line++)
            {
                if (taken[line] < perConnection[line].Count && same(expected[next], perConnection[line][taken[line]]))
                {
                    taken[line]++;
                    if (Deal(next + 1))
                    {
                        return true;
                    }

                    taken[line]--;
                }
            }

            return false;
        }
    }
}
