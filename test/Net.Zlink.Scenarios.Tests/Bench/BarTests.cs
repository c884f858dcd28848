using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Bench;

public sealed class BarTests
{
    [Fact]
    public void A_bar_is_read_with_its_case_server_figure_ratio_and_reference()
    {
        Bar bar = Bar.Parse("small/ours:p99<=0.7x@kestrel");

        Assert.Equal(new Bar("small", "ours", Metric.Parse("p99"), AtLeast: false, 0.7, IsRatio: true, "kestrel"), bar);
        Assert.Equal("small/ours p99 <= 0.7x@kestrel", bar.ToString());
    }

    [Theory]
    [InlineData("ours")]
    [InlineData("ours:rate")]
    [InlineData("ours:rate=1")]
    [InlineData(":rate>=1")]
    [InlineData("ours:rate>=")]
    [InlineData("ours:rate>=fast")]
    [InlineData("ours:rate>=5@asio")]
    [InlineData("ours:speed>=1x")]
    public void A_bar_that_makes_no_sense_is_refused(string text) => Assert.Throws<RequestException>(() => Bar.Parse(text));
}
