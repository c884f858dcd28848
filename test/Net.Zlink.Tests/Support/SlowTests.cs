namespace Net.Zlink.Tests.Support;

/// <summary>
/// What takes long for what it shows. `dotnet test` leaves it out or makes fewer rounds of it. With <see cref="Variable"/> set, as
/// .ci/long sets it, all of it runs.
/// </summary>
internal static class SlowTests
{
    public const string Variable = "ZLINK_SLOW_TESTS";

    /// <summary>What a skipped test says.</summary>
    public const string Reason = $"slow: runs with {Variable}=1";

    public static bool AreOn { get; } = !string.IsNullOrEmpty(Environment.GetEnvironmentVariable(Variable));

    /// <summary>How many rounds a test makes: few, or all of them where the slow tests run.</summary>
    public static int Rounds(int few, int all) => AreOn ? all : few;

    /// <summary>Every n-th item, or all of them where the slow tests run.</summary>
    public static IEnumerable<T> Some<T>(IEnumerable<T> items, int every) => items.Where((_, at) => AreOn || at % every == 0);
}
