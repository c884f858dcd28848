using Net.Zlink.Benchmarks.Compare;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Bench;

public sealed class DoubtsTests
{
    [Fact]
    public void A_control_that_moves_in_the_cases_own_figure_is_a_doubt()
    {
        Assert.Contains("control itself moved from 0.10 to 1.00 connect s", Assert.Single(Of("connect", Connecting(0.1), Connecting(1))),
            StringComparison.Ordinal);
        Assert.Contains("idle cpu %", Assert.Single(Of("idle", Idling(1), Idling(2))), StringComparison.Ordinal);
        Assert.Contains("msg/s", Assert.Single(Of("s2", Loaded(100), Loaded(200))), StringComparison.Ordinal);
    }

    [Fact]
    public void A_control_that_stands_still_is_none()
    {
        Assert.Empty(Of("connect", Connecting(0.1), Connecting(0.11)));
        Assert.Empty(Of("s2", Loaded(100), Loaded(110)));
    }

    [Fact]
    public void An_idle_control_may_move_by_what_the_kernels_clock_cannot_tell() => Assert.Empty(Of("idle", Idling(0.1), Idling(0.3)));

    private static IEnumerable<string> Of(string name, params Run[] runs) =>
        Doubts.Of([.. runs.Select(static (run, i) => run with { Round = i + 1 })], "control", LoadCase.Parse(name).Own);

    private static Run Connecting(double seconds) => Make() with { Load = new LoadResult { Result = "PASS", ConnectSeconds = seconds } };

    private static Run Loaded(double rate) => Make() with { Load = new LoadResult { Result = "PASS", MessagesPerSecond = rate } };

    private static Run Idling(double percent) => Make() with { Idle = new IdleResult(percent, 1) };

    private static Run Make() => new() { Server = "control", Round = 1 };
}
