namespace Net.Zlink.Tests.Support;

/// <summary>
/// What takes long for what it shows. `dotnet test` leaves it out or makes fewer rounds of it. With <see cref="Variable"/> set to 1, as
/// .ci/run sets it, more of it runs; with "long", by hand, all of it.
/// </summary>
internal static class SlowTests
{
    public const string Variable = "ZLINK_SLOW_TESTS";

    /// <summary>What a skipped test says.</summary>
    public const string Reason = $"slow: runs with {Variable}=1";

    public static bool AreOn { get; } = Environment.GetEnvironmentVariable(Variable) is "1" or "long";

    /// <summary>Set by hand: what costs tens of seconds runs, too.</summary>
    public static bool AreLong { get; } = Environment.GetEnvironmentVariable(Variable) is "long";

    /// <summary>How many rounds a test makes: few, or all of them where the slow tests run.</summary>
    public static int Rounds(int few, int all) => AreOn ? all : few;

    /// <summary>How many rounds a test makes that is costly in CI, too.</summary>
    public static int Rounds(int few, int ci, int all) => AreLong ? all : Rounds(few, ci);

    /// <summary>Every n-th item, or all of them where the slow tests run.</summary>
    public static IEnumerable<T> Some<T>(IEnumerable<T> items, int every) => items.Where((_, at) => AreOn || at % every == 0);
}
