namespace Net.Zlink.Services.Tests;

/// <summary>How long the tests of faults take: short by default, longer with ZLINK_FAULTS=1 as .ci/run sets it, and as long as they are
/// worth with ZLINK_FAULTS=long, by hand.</summary>
internal static class Faults
{
    public const string Variable = "ZLINK_FAULTS";

    public static int Rounds(int few, int inCi, int byHand) => Environment.GetEnvironmentVariable(Variable) switch
    {
        null or "" => few,
        "long" => byHand,
        _ => inCi,
    };
}
