using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Buffers;

public sealed class ObjectCacheTests
{
    [Fact]
    public void An_object_cache_gives_back_what_it_keeps_and_keeps_no_more_than_its_capacity()
    {
        var spares = new ObjectCache<object>(2);
        Assert.False(spares.TryRent(out _));
        object[] kept = [new(), new()];
        spares.Return(kept[0]);
        spares.Return(kept[1]);
        spares.Return(new object());
        Assert.True(spares.TryRent(out object? first));
        Assert.True(spares.TryRent(out object? second));
        Assert.Equal(kept, [first, second]);
        Assert.False(spares.TryRent(out _));
        spares.Return(kept[0]); // There is room again.
        Assert.True(spares.TryRent(out _));
    }

    [Fact]
    public void No_object_is_handed_out_twice_and_the_room_is_kept_however_many_threads_come_and_go()
    {
        const int Threads = 4;
        const int Room = 3;
        var spares = new ObjectCache<StrongBox<int>>(Room);
        int doubles = 0;
        InParallel([.. Enumerable.Repeat<Action>(
            () =>
            {
                for (int i = 0; i < 20_000; i++)
                {
                    StrongBox<int> one = spares.Rent();
                    if (Interlocked.Increment(ref one.Value) != 1)
                    {
                        Interlocked.Increment(ref doubles);
                    }

                    Interlocked.Decrement(ref one.Value);
                    spares.Return(one);
                }
            },
            Threads)]);
        Assert.Equal(0, doubles);
        int left = 0;
        while (spares.TryRent(out _))
        {
            left++;
        }

        Assert.InRange(left, 1, Room);
    }
}
