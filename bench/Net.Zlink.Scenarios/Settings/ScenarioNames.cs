namespace Net.Zlink.Scenarios.Settings;

/// <summary>How a scenario is called in commands, lines and files.</summary>
internal static class ScenarioNames
{
    public static string NameOf(Scenario scenario) => scenario switch
    {
        Scenario.S0 => "s0",
        Scenario.S1 => "s1",
        _ => "s2",
    };

    /// <summary>The id of a stack's rows.</summary>
    public static string IdOf(string stack, Scenario scenario) => $"{stack}-{NameOf(scenario)}";
}
