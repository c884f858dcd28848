using Net.Zlink.Tests.Support;

namespace Net.Zlink.Services.Tests;

/// <summary>How long the tests of faults take: short by default, longer where the slow tests run, and as long as they are worth with
/// ZLINK_FAULTS=long, by hand.</summary>
internal static class Faults
{
    public const string Variable = "ZLINK_FAULTS";

    public static int Rounds(int few, int more, int byHand) =>
        Environment.GetEnvironmentVariable(Variable) is "long" ? byHand : SlowTests.Rounds(few, more);
}
