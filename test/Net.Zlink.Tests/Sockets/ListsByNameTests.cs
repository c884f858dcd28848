using Net.Zlink.Sockets;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>Things by name.</summary>
public sealed class ListsByNameTests
{
    [Fact]
    public void Those_of_a_name_come_in_the_order_in_which_they_were_added_and_go_one_by_one()
    {
        var lists = new ListsByName<int>();
        lists.Add("a", 1);
        lists.Add("b", 2);
        lists.Add("a", 3);
        lists.Add("a", 4);
        Assert.Equal(4, lists.Count);
        Assert.Equal([1, 3, 4], lists.Of("a"));
        Assert.Empty(lists.Of("c"));
        Assert.True(lists.TryFind("a", static n => n > 1, out int found));
        Assert.Equal(3, found);
        Assert.False(lists.TryFind("b", static n => n > 2, out _));
        Assert.False(lists.TryFind("c", static _ => true, out _));
        Assert.True(lists.Remove("a", 3));
        Assert.False(lists.Remove("a", 3));
        Assert.False(lists.Remove("c", 1));
        Assert.True(lists.Remove("b", 2));
        Assert.Equal([1, 4], lists.All);
        Assert.Equal(2, lists.Count);
    }
}
