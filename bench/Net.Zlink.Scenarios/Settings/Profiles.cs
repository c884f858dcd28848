using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Settings;

/// <summary>The named sets of settings.</summary>
internal static class Profiles
{
    public const string Fixed = "fixed";
    public const string Quick = "quick";

    // s0 is about one connection by definition; the rest of the profile stays as it is.
    public static ScenarioSettings Of(string profile, Scenario scenario)
    {
        ScenarioSettings settings = profile switch
        {
            Fixed => new ScenarioSettings(),

            // Seconds instead of minutes: a test that all of it works. Its figures are no result.
            Quick => new ScenarioSettings { Connections = 200, WarmupSeconds = 0.3, MeasureSeconds = 1 },
            _ => throw new RequestException($"There is no profile {profile}; there are {Fixed} and {Quick}."),
        };
        settings = settings with { Scenario = scenario };
        return scenario switch
        {
            Scenario.S0 => settings with { Connections = 1, InFlight = 1 },

            // A server with a full queue resets what it cannot take within a round trip; a second leaves room for a busy machine. Longer
            // shows what idling costs.
            Scenario.S1 => settings with { InFlight = 0, WarmupSeconds = 0, MeasureSeconds = 1 },
            _ => settings,
        };
    }

    /// <summary>Rounds that a profile has by default.</summary>
    public static int RoundsOf(string profile) => string.Equals(profile, Quick, StringComparison.Ordinal) ? 1 : 5;
}
