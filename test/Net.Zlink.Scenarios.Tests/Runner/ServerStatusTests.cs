using System.Text.Json;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Runner;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Runner;

public sealed class ServerStatusTests
{
    private static readonly ProcessSample Sample = new(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);

    [Fact]
    public void The_last_sample_is_the_latest()
    {
        var status = new ServerStatus();
        Assert.Null(status.Latest);
        status.Add(Line(Sample));
        status.Add(Line(Sample with { Second = 2 }));
        Assert.Equal([Sample, Sample with { Second = 2 }], status.Samples);
        Assert.Equal(2, status.Latest!.Second);
        Assert.Null(status.Fault);
    }

    [Theory]
    [InlineData("listening fine")]
    [InlineData("")]
    [InlineData("[]")]
    [InlineData("null")]
    public void A_line_that_is_no_sample_is_a_fault_and_not_the_end(string text)
    {
        var status = new ServerStatus();
        status.Add(ChildLines.Status + text);
        status.Add(Line(Sample));
        Assert.Contains("is not understood", status.Fault, StringComparison.Ordinal);
        Assert.Equal(Sample, Assert.Single(status.Samples));
    }

    private static string Line(ProcessSample sample) =>
        ChildLines.Status + JsonSerializer.Serialize(sample, ChildJson.Default.ProcessSample);
}
