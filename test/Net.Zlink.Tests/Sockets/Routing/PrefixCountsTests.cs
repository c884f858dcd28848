using FsCheck.Fluent;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;
using static Net.Zlink.Tests.Sockets.Routing.RoutingFixture;

namespace Net.Zlink.Tests.Sockets.Routing;

public sealed class PrefixCountsTests
{
    private readonly PrefixCounts _counts = new();

    [Fact]
    public void A_prefix_is_gone_when_every_subscription_of_it_was_taken_back()
    {
        Assert.Equal(1, _counts.Add("t"u8));
        Assert.Equal(2, _counts.Add("t"u8));
        Assert.False(_counts.RemoveLast("t"u8));
        Assert.True(_counts.Matches("topic"u8));
        Assert.True(_counts.RemoveLast("t"u8));
        Assert.False(_counts.Matches("topic"u8));
        Assert.Equal(0, _counts.Count);
    }

    [Fact]
    public void Taking_back_what_was_never_subscribed_changes_nothing()
    {
        _counts.Add("topic"u8);
        Assert.False(_counts.RemoveLast("top"u8));
        Assert.False(_counts.RemoveLast("topics"u8));
        Assert.False(_counts.RemoveLast(""u8));
        Assert.Equal(1, _counts.Count);
    }

    [Fact]
    public void Prefixes_come_in_byte_order_once_each_and_before_their_extensions()
    {
        foreach (string prefix in (string[])["b", "\u00FF", "ab", "a", "", "\u0080", "a", "abc", "\0"])
        {
            _counts.Add(Bytes(prefix));
        }

        Same(["", "\0", "a", "ab", "abc", "b", "\u0080", "\u00FF"], InOrder());
    }

    [Fact]
    public void Counts_answer_as_a_list_with_linear_matching_does() =>
        ForAllArrays(Gen.Choose(0, 2).SelectMany(static _ => Prefixes, static (kind, prefix) => (kind, prefix)), 300, static operations =>
        {
            var test = new PrefixCountsTests();
            List<string> model = [];
            foreach ((int kind, string prefix) in operations)
            {
                byte[] bytes = Bytes(prefix);
                if (kind > 0)
                {
                    model.Add(prefix);
                    Assert.Equal(model.Count(p => string.Equals(p, prefix, StringComparison.Ordinal)), test._counts.Add(bytes));
                }
                else
                {
                    bool isLast = model.Remove(prefix) && !model.Contains(prefix, StringComparer.Ordinal);
                    Assert.Equal(isLast, test._counts.RemoveLast(bytes));
                }

                Same(model.Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal), test.InOrder());
                Assert.Equal(model.Distinct(StringComparer.Ordinal).Count(), test._counts.Count);
                foreach (string topic in (string[])[prefix, prefix + "a", prefix.Length == 0 ? "" : prefix[..^1]])
                {
                    Assert.Equal(model.Exists(p => topic.StartsWith(p, StringComparison.Ordinal)), test._counts.Matches(Bytes(topic)));
                    Assert.Equal(model.Exists(p => p.Length > 1 && topic.StartsWith(p, StringComparison.Ordinal)),
                        test._counts.Matches(Bytes(topic), minLength: 2));
                }
            }
        });

    [Fact]
    public void Filtering_and_a_repeated_subscription_allocate_nothing()
    {
        byte[] topic = Bytes("topic/one");
        _counts.Add("topic"u8);
        _counts.Add("other"u8);
        Assert.Equal(0, Allocations.Of(() =>
        {
            Assert.True(_counts.Matches(topic));
            _counts.Add("topic"u8);
            _counts.RemoveLast("topic"u8);
        }));
    }

    private IEnumerable<string> InOrder() => _counts.InOrder().Select(static prefix => Text(prefix));
}
