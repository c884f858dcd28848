using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Patterns.Services;

public sealed class ChaosCommandTests
{
    [Theory]
    [InlineData("0")]
    [InlineData("-1")]
    [InlineData("NaN")]
    [InlineData("1441")]
    public async Task A_time_that_makes_no_sense_is_refused(string minutes)
    {
        (int code, _, string errors) = await Runs.ProgramAsync("services", "--chaos", "--minutes", minutes);
        Assert.Equal(CommandLineProgram.WrongRequest, code);
        Assert.Contains("--minutes must be", errors, StringComparison.Ordinal);
    }

    [SlowFact]
    public async Task Services_that_are_killed_paused_drained_and_restarted_execute_nothing_twice_and_lose_nothing_without_a_sign()
    {
        (int code, string output, string errors) = await Runs.ProgramAsync("services", "--chaos", "--minutes", "0.4");
        Assert.True(code == 0, output + errors);
        Assert.Contains("CHAOS pass_fail=PASS", output, StringComparison.Ordinal);
    }
}
