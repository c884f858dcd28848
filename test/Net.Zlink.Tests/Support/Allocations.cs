namespace Net.Zlink.Tests.Support;

/// <summary>
/// What something allocates on the thread that does it, once it was done before: the least of several windows of many rounds each.
/// A background collection of the runtime, which other tests cause, can charge the unused rest of a thread's allocation window to a thread
/// that allocated nothing, and a store that tests share can be empty for a moment. An allocation of each round shows in every window.
/// </summary>
internal sealed class Allocations
{
    // Where nothing is allocated the first nearly always suffices. That others spoil twenty in a row is out of the question.
    private const int Windows = 20;
    private const int WarmUp = 100;

    private long _from;
    private long _sum;

    /// <summary>Bytes of the window that had the fewest.</summary>
    public long Least { get; private set; } = long.MaxValue;

    /// <summary>Bytes that a number of rounds allocates.</summary>
    public static long Of(Action round, int rounds = 1_000) => OfPieces(
        pieces =>
        {
            pieces.Begin();
            round();
            pieces.End();
        },
        rounds);

    /// <summary>Bytes that a number of rounds allocates between each <see cref="Begin"/> and the <see cref="End"/> that follows
    /// it.</summary>
    public static long OfPieces(Action<Allocations> round, int rounds = 1_000)
    {
        var pieces = new Allocations();
        for (int i = 0; i < WarmUp; i++)
        {
            round(pieces);
        }

        pieces._sum = 0;
        for (int window = 0; window < Windows && pieces.Least > 0; window++)
        {
            for (int i = 0; i < rounds; i++)
            {
                round(pieces);
            }

            pieces.EndWindow();
        }

        return pieces.Least;
    }

    /// <summary>What this thread allocates counts from here on.</summary>
    public void Begin() => _from = GC.GetAllocatedBytesForCurrentThread();

    /// <summary>What this thread allocates no longer counts.</summary>
    public void End() => _sum += GC.GetAllocatedBytesForCurrentThread() - _from;

    /// <summary>Only for a loop of the caller's own, such as that of two threads which take turns; its first window warms up.</summary>
    public void EndWindow()
    {
        Least = Math.Min(Least, _sum);
        _sum = 0;
    }
}
