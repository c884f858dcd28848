using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>How the time that something takes grows with a number, where a search through all of them would take hundreds of times as
/// long.</summary>
internal static class Growth
{
    // A busy machine takes the processor away in most rounds of some milliseconds, not in a hundred of them; what really searches is slow
    // in each.
    private const int MostRounds = 100;
    private const int LeastRounds = 5;

    /// <summary>Fails unless the best time with many is below so many times the best with few; both are taken in turn, and again while it
    /// is not so.</summary>
    public static void AssertBelow(int times, Func<TimeSpan> few, Func<TimeSpan> many)
    {
        (TimeSpan bestOfFew, TimeSpan bestOfMany) = (TimeSpan.MaxValue, TimeSpan.MaxValue);
        for (int round = 0; round < LeastRounds || (round < MostRounds && bestOfMany >= bestOfFew * times); round++)
        {
            bestOfFew = Least(bestOfFew, few());
            bestOfMany = Least(bestOfMany, many());
        }

        Assert.True(bestOfMany < bestOfFew * times, $"{bestOfFew} with few, {bestOfMany} with many");
    }

    /// <summary>How long it takes.</summary>
    public static TimeSpan TimeOf(Action action)
    {
        long started = TimeProvider.System.GetTimestamp();
        action();
        return TimeProvider.System.GetElapsedTime(started);
    }

    private static TimeSpan Least(TimeSpan one, TimeSpan other) => one < other ? one : other;
}
