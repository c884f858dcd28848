using System.Diagnostics;
using Net.Zlink.Scenarios.Patterns.Running;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Patterns.Running;

public sealed class MeasuringProcessTests
{
    // Ends only if it is ended: its input stays open.
    private const string Endless = "cat";

    [Fact]
    public async Task A_process_that_is_over_its_time_is_ended_and_is_a_fault()
    {
        SkipWhereThereIsNoShell();
        MeasuredFigures figures = await MeasuringProcess.RunAsync(
            new ProcessStartInfo(Endless), ResultLines.Throughput, TimeSpan.Zero, TimeSpan.Zero, TestContext.Current.CancellationToken);
        Assert.Contains("did not end", figures.Fault, StringComparison.Ordinal);
        Assert.Null(figures.Find(ResultLines.Throughput));
    }

    [Fact]
    public async Task A_process_that_printed_its_figure_and_does_not_end_is_a_fault()
    {
        SkipWhereThereIsNoShell();
        var shell = new ProcessStartInfo("/bin/sh",
            ["-c", $"echo RESULT,net-zlink,PAIR,tcp,64,{ResultLines.Throughput},5; exec > /dev/null; exec {Endless}"]);
        MeasuredFigures figures = await MeasuringProcess.RunAsync(
            shell, ResultLines.Throughput, TimeSpan.FromSeconds(60), TimeSpan.Zero, TestContext.Current.CancellationToken);
        Assert.Equal(5, figures.Find(ResultLines.Throughput));
        Assert.Contains("after its figure", figures.Fault, StringComparison.Ordinal);
    }

    private static void SkipWhereThereIsNoShell() => Assert.SkipUnless(OperatingSystem.IsLinux(), "reads /proc and starts a shell");
}
