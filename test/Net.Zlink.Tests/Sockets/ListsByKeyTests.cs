using Net.Zlink.Sockets.Endpoints;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>Things by a key.</summary>
public sealed class ListsByKeyTests
{
    [Fact]
    public void Values_of_a_key_keep_the_order_of_adding_and_are_removed_one_by_one()
    {
        ListsByKey<string, int> lists = Filled();
        Assert.Equal(4, lists.Count);
        Assert.Equal([1, 3, 4], lists.Of("a"));
        Assert.Empty(lists.Of("c"));
        Assert.True(lists.Has("b"));
        Assert.False(lists.Has("c"));
        Assert.True(lists.Remove("a", 3));
        Assert.False(lists.Remove("a", 3));
        Assert.False(lists.Remove("b", 1));
        Assert.True(lists.Remove("b", 2));
        Assert.False(lists.Has("b"));
        Assert.Equal([1, 4], lists.All);
        Assert.Equal(2, lists.Count);
    }

    [Fact]
    public void The_last_of_a_key_is_the_one_that_was_added_last_of_those_that_are_there()
    {
        ListsByKey<string, int> lists = Filled();
        Assert.Equal(4, lists.LastOf("a"));
        Assert.Equal(2, lists.LastOf("b"));
        Assert.Equal(0, lists.LastOf("c"));
        lists.Remove("a", 3);
        Assert.Equal(4, lists.LastOf("a"));
        lists.Remove("a", 4);
        Assert.Equal(1, lists.LastOf("a"));
        lists.Remove("a", 1);
        Assert.Equal(0, lists.LastOf("a"));
    }

    [Fact]
    public void A_value_may_have_several_keys_but_each_only_once()
    {
        ListsByKey<string, int> lists = Filled();
        Assert.True(lists.Add("b", 1));
        Assert.False(lists.Add("b", 1));
        Assert.Equal([2, 1], lists.Of("b"));
        Assert.True(lists.Remove("a", 1));
        Assert.Equal([2, 1], lists.Of("b"));
    }

    [Theory]
    [InlineData(1)] // All of one key: the connects of one endpoint.
    [InlineData(20_000)] // Each of its own.
    public void To_take_one_of_thousands_out_is_not_to_look_at_the_others(int keys)
    {
        const int Things = 20_000;
        Thing[] things = [.. Enumerable.Range(0, Things).Select(static n => new Thing(n))];
        var lists = new ListsByKey<int, Thing>();
        Array.ForEach(things, thing => lists.Add(thing.Number % keys, thing));
        Thing.Compared = 0;
        foreach (Thing thing in things.Reverse()) // From the end: a list searched from its beginning passes all of them.
        {
            Assert.True(lists.Remove(thing.Number % keys, thing));
        }

        // Once each, and now and then with another one of the same place in the table.
        Assert.InRange(Thing.Compared, 0, 3 * Things);
    }

    private static ListsByKey<string, int> Filled()
    {
        var lists = new ListsByKey<string, int>();
        Assert.True(lists.Add("a", 1));
        Assert.True(lists.Add("b", 2));
        Assert.True(lists.Add("a", 3));
        Assert.True(lists.Add("a", 4));
        return lists;
    }

    /// <summary>Counts how often it is compared with another one.</summary>
    private sealed class Thing(int number) : IEquatable<Thing>
    {
        [ThreadStatic]
        private static int t_compared;

        public static int Compared
        {
            get => t_compared;
            set => t_compared = value;
        }

        public int Number => number;

        public bool Equals(Thing? other)
        {
            t_compared++;
            return other is not null && number == other.Number;
        }

        public override bool Equals(object? obj) => Equals(obj as Thing);

        public override int GetHashCode() => number;
    }
}
