using Net.Zlink.Sockets.Routing;
using Xunit;

namespace Net.Zlink.Tests.Sockets.Routing;

public sealed class NoticeRulesTests
{
    private static NoticeRules Plain => default;

    private static NoticeRules Of(string mode) => mode switch
    {
        "verbose" => Plain with { Subscribes = true },
        "verboser" => Plain with { Subscribes = true, Cancels = true },
        "manual" => Plain with { Manual = true },
        _ => Plain,
    };

    [Theory]
    [InlineData("default", true, true)]
    [InlineData("default", false, false)]
    [InlineData("verbose", true, true)]
    [InlineData("verbose", false, true)]
    [InlineData("verboser", true, true)]
    [InlineData("verboser", false, true)]
    [InlineData("manual", true, true)]
    [InlineData("manual", false, true)]
    public void A_subscribe_is_told_if_it_is_the_prefixs_first_or_the_mode_tells_all(string mode, bool first, bool told) =>
        Assert.Equal(told, Of(mode).NotifiesSubscribe(first));

    [Theory]
    [InlineData("default", "LastOfPrefix", true)]
    [InlineData("default", "OthersRemain", false)]
    [InlineData("default", "NotSubscribed", false)]
    [InlineData("default", "UnknownPrefix", true)]
    [InlineData("verbose", "LastOfPrefix", true)]
    [InlineData("verbose", "OthersRemain", false)]
    [InlineData("verbose", "NotSubscribed", false)]
    [InlineData("verbose", "UnknownPrefix", true)]
    [InlineData("verboser", "LastOfPrefix", true)]
    [InlineData("verboser", "OthersRemain", true)]
    [InlineData("verboser", "NotSubscribed", true)]
    [InlineData("verboser", "UnknownPrefix", true)]
    [InlineData("manual", "LastOfPrefix", true)]
    [InlineData("manual", "OthersRemain", true)]
    [InlineData("manual", "NotSubscribed", true)]
    [InlineData("manual", "UnknownPrefix", true)]
    public void A_cancel_is_told_if_nobody_has_the_prefix_any_more_or_the_mode_tells_all(string mode, string removal, bool told) =>
        Assert.Equal(told, Of(mode).NotifiesCancel(Enum.Parse<SubscriptionRemoval>(removal)));

    [Theory]
    [InlineData("default", true, true)]
    [InlineData("default", false, false)]
    [InlineData("verbose", true, true)]
    [InlineData("verbose", false, false)]
    [InlineData("verboser", true, true)]
    [InlineData("verboser", false, true)]
    [InlineData("manual", true, true)]
    [InlineData("manual", false, true)]
    public void A_lost_peers_prefix_is_told_as_a_cancel_if_it_was_the_last_or_the_mode_tells_all(string mode, bool last, bool told) =>
        Assert.Equal(told, Of(mode).NotifiesLoss(last));

    /// <summary>Two subscribers of one prefix, through a trie: what each mode tells of two subscribes, a repetition, and two
    /// ends.</summary>
    [Theory]
    [InlineData("default", "+ -")]
    [InlineData("verbose", "+ + + -")]
    [InlineData("verboser", "+ + + - -")]
    public void Two_subscribers_of_one_prefix_are_told_as_the_mode_says(string mode, string told)
    {
        NoticeRules notices = Of(mode);
        var trie = new SubscriptionTrie<string>();
        Subscriber<string> a = trie.NewSubscriber("A");
        Subscriber<string> b = trie.NewSubscriber("B");
        List<string> found = [];
        foreach (Subscriber<string> subscriber in (Subscriber<string>[])[a, a, b])
        {
            trie.Add("t"u8, subscriber, out bool first);
            Tell(notices.NotifiesSubscribe(first), "+");
        }

        Tell(notices.NotifiesCancel(trie.Remove("t"u8, a)), "-");
        (string prefix, bool last) = Assert.Single(trie.RemoveAll(b));
        Assert.Equal("t", prefix);
        Tell(notices.NotifiesLoss(last), "-");
        Assert.Equal(told, string.Join(' ', found));

        void Tell(bool tells, string what)
        {
            if (tells)
            {
                found.Add(what);
            }
        }
    }
}
