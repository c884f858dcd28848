using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Bench;

public sealed class LoadCaseTests
{
    private static readonly LoadCase[] LoadAndIdle = [LoadCase.Parse("s2"), LoadCase.Parse("idle")];

    [Theory]
    [InlineData("ours:rate>=1x")]
    [InlineData("ours:idle<=1")]
    [InlineData("idle/ours:held<=10")]
    [InlineData("s2/ours:peak<=120")]
    public void A_bar_about_a_case_that_is_run_is_taken(string text)
    {
        Bar bar = Bar.Parse(text);
        LoadCase.CheckMeant(bar, LoadAndIdle);
        Assert.Single(LoadAndIdle, what => what.IsMeantBy(bar));
    }

    [Theory]
    [InlineData("small/ours:rate>=1x", "add --case small")]
    [InlineData("idle/ours:rate>=1x", "its case does not have")]
    [InlineData("s2/ours:idle<=1", "its case does not have")]
    public void A_bar_about_no_case_that_is_run_is_refused_with_what_to_do(string text, string why)
    {
        RequestException e = Assert.Throws<RequestException>(() => LoadCase.CheckMeant(Bar.Parse(text), LoadAndIdle));
        Assert.Contains(why, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_bar_on_a_figure_that_no_case_has_is_refused() =>
        Assert.Throws<RequestException>(() => LoadCase.CheckMeant(
            Bar.Parse("ours:p99<=1x"), [LoadCase.Parse("connect"), LoadCase.Parse("idle")]));
}
