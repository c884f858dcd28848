using Net.Zlink.Engine;
using Xunit;

namespace Net.Zlink.Tests.Engine;

public sealed class QueueLimitsTests
{
    [Fact]
    public void The_room_of_two_queues_is_the_sum_and_never_less_than_each()
    {
        Assert.Equal(new QueueLimits(5, 50), new QueueLimits(2, 20).And(new QueueLimits(3, 30)));
        Assert.Equal(new QueueLimits(0, 0), new QueueLimits(2, 20).And(new QueueLimits(0, 0)));
        Assert.Equal(new QueueLimits(int.MaxValue, long.MaxValue),
            new QueueLimits(int.MaxValue, long.MaxValue).And(new QueueLimits(int.MaxValue, long.MaxValue)));
    }

    [Fact]
    public void Half_of_the_largest_mark_is_half_of_it()
    {
        var limits = new QueueLimits(int.MaxValue, 0);
        Assert.False(limits.IsHalf(1, 1));
        Assert.True(limits.IsHalf(1 << 30, 1));
    }
}
