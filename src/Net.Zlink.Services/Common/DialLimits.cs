namespace Net.Zlink.Services;

/// <summary>How many endpoints are dialled and connected at a time, and how long failures wait.</summary>
internal sealed record DialLimits
{
    /// <summary>Most dials at a time.</summary>
    public int ConcurrentDials { get; init; } = 64;

    /// <summary>Most endpoints of one group that are dialled or connected.</summary>
    public int ConnectedPerGroup { get; init; } = int.MaxValue;

    /// <summary>The pause behind the first failure. It doubles with each further one.</summary>
    public TimeSpan FirstPause { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>The longest pause while few endpoints fail: see <see cref="LongestPauseOf"/>.</summary>
    public TimeSpan LongestPause { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Scatters endpoints that were added at one moment, so that not all programs dial the same ones first.</summary>
    public uint Seed { get; init; }

    // A dial that is refused takes 0.1 to 0.2 ms of a processor: at this pace a fifth of a core at most, and a crowd that fails makes 333.
    private static readonly TimeSpan Pace = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan PausePerFailing = TimeSpan.FromMilliseconds(3);
    private static readonly TimeSpan LongestPauseOfCrowd = TimeSpan.FromSeconds(60);

    // A handshake of tls over a slow line takes less than a second. Who needs more gets it with the next attempts.
    private static readonly TimeSpan FirstPatience = TimeSpan.FromSeconds(1);
    private const int MostDoublings = 3;

    /// <summary>The least time between dials, which a burst of <see cref="ConcurrentDials"/> may exceed.</summary>
    public static TimeSpan Interval => Pace;

    public TimeSpan Burst => Pace * ConcurrentDials;

    /// <summary>How long a dial may take while others wait for its place.</summary>
    public static TimeSpan PatienceFor(int failures) => FirstPatience * (1 << Math.Min(failures, MostDoublings));

    /// <summary>The longest pause grows with the number of endpoints that fail: all of them together make a bounded number of
    /// dials.</summary>
    public TimeSpan LongestPauseOf(int failing)
    {
        TimeSpan pause = PausePerFailing * failing;
        pause = pause < LongestPauseOfCrowd ? pause : LongestPauseOfCrowd;
        return pause > LongestPause ? pause : LongestPause;
    }

    public TimeSpan PauseBehind(int failures, int failing)
    {
        TimeSpan longest = LongestPauseOf(failing);
        TimeSpan pause = FirstPause;
        for (int i = 1; i < failures && pause < longest; i++)
        {
            pause *= 2;
        }

        return pause < longest ? pause : longest;
    }
}

/// <summary>What an endpoint has shown so far, in the order in which endpoints are preferred.</summary>
internal enum DialRank
{
    /// <summary>It was connected.</summary>
    Lost,

    /// <summary>It was never tried.</summary>
    New,

    /// <summary>The last attempt failed, or its connection was brief.</summary>
    Failed,
}

/// <summary>The places for dials. A quarter is kept for endpoints that were never tried, and one for those that were connected; those that
/// have failed get half of them at most. So none of the three waits for the others. Never copied.</summary>
internal struct DialPlaces(int all)
{
    private readonly int _kept = all / 4;
    private int _lost;
    private int _new;
    private int _failed;

    public void Take(DialRank rank) => Of(ref this, rank)++;

    public void Free(DialRank rank) => Of(ref this, rank)--;

    public readonly bool CanTake(DialRank rank)
    {
        int most = all - _kept;
        return _lost + _new + _failed < all && rank switch
        {
            DialRank.Lost => _lost + _failed < most,
            DialRank.New => _new + _failed < most,
            _ => _failed < Math.Max(1, all / 2) && _new + _failed < most && _lost + _failed < most,
        };
    }

    /// <summary>One of a rank may take the place of another one.</summary>
    public readonly bool CanReplace(DialRank other, DialRank rank)
    {
        DialPlaces without = this;
        without.Free(other);
        return without.CanTake(rank);
    }

    private static ref int Of(ref DialPlaces places, DialRank rank)
    {
        switch (rank)
        {
            case DialRank.Lost:
                return ref places._lost;
            case DialRank.New:
                return ref places._new;
            default:
                return ref places._failed;
        }
    }
}
