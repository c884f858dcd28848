using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Runner;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Runner;

public sealed class PinningTests
{
    [Fact]
    public void Lists_of_processors_are_read_as_taskset_writes_them()
    {
        Assert.Equal([0, 1, 2, 3, 8], Pinning.Parse("0-3,8"));
        Assert.Equal([5], Pinning.Parse("5"));
    }

    [Theory]
    [InlineData("")]
    [InlineData("a")]
    [InlineData("3-1")]
    [InlineData("1-2-3")]
    public void A_malformed_processor_list_is_refused(string list) => Assert.Throws<RequestException>(() => Pinning.Parse(list));

    [Fact]
    public void Off_says_so_and_pins_nothing()
    {
        Pinning off = Pinning.Parse("off", Pinning.Auto);
        Assert.Null(off.Server);
        Assert.Null(off.Client);
        Assert.Contains("not pinned", off.Words, StringComparison.Ordinal);
    }

    [Fact]
    public void The_usual_choice_gives_both_sides_processors_of_their_own_or_says_why_not()
    {
        Pinning auto = Pinning.Auto();
        if (auto.Server is null)
        {
            Assert.StartsWith("not pinned: ", auto.Words, StringComparison.Ordinal);
        }
        else
        {
            Assert.Empty(Pinning.Parse(auto.Server).Intersect(Pinning.Parse(auto.Client!)));
        }
    }

    [Fact]
    public void Processors_that_are_not_there_are_refused() =>
        Assert.Throws<RequestException>(() => Pinning.Parse("0/99999", Pinning.Auto));
}
