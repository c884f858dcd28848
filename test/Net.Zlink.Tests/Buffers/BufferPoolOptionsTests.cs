using Net.Zlink.Buffers;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class BufferPoolOptionsTests
{
    [Fact]
    public void The_default_preset_warms_less_than_4_MB()
    {
        using var pool = new BufferPool();
        BufferPoolStatistics statistics = pool.GetStatistics();
        Assert.InRange(statistics.BytesKept, 500_000, 4_000_000);
        Assert.All(statistics.Classes.Where(static one => one.Size <= 65_536), static one => Assert.True(one.Kept > 0));
    }

    [Fact]
    public void The_server_preset_warms_every_class_and_at_most_64_MB()
    {
        using var pool = new BufferPool(BufferPoolOptions.Server);
        BufferPoolStatistics statistics = pool.GetStatistics();
        Assert.InRange(statistics.BytesKept, 32_000_000, 64_000_000);
        Assert.All(statistics.Classes, static one => Assert.Equal(one.Size <= TestPools.LargestWarmed, one.Kept > 0));
    }

    [Fact]
    public void The_presets_keep_what_10000_connections_hold_at_once_in_the_small_classes_and_trim_when_idle()
    {
        foreach (BufferPoolOptions preset in new[] { BufferPoolOptions.Default, BufferPoolOptions.Server })
        {
            for (int index = 0; index < BufferPool.ClassSizes.Length; index++)
            {
                BufferClassPolicy policy = preset.ClassPolicies[index];
                Assert.True(BufferPool.ClassSizes[index] > 4_096 || policy.KeepLimit >= 10_000);
                Assert.NotEqual(Timeout.InfiniteTimeSpan, policy.TrimAfterIdle);
            }
        }
    }

    [Fact]
    public void A_pool_takes_its_settings_at_its_creation()
    {
        BufferClassPolicy[] policies = [.. BufferPoolOptions.PerClass(static _ => new BufferClassPolicy(1, 1, Timeout.InfiniteTimeSpan))];
        var options = new BufferPoolOptions { ClassPolicies = policies };
        policies[0] = new BufferClassPolicy(5, 5, Timeout.InfiniteTimeSpan);
        using var pool = new BufferPool(options);
        Assert.Equal(1, pool.ClassOf(128).Kept);
    }

    [Fact]
    public void A_preset_can_be_varied()
    {
        BufferPoolOptions options = BufferPoolOptions.Server with { LeakCheck = true };
        Assert.True(options.LeakCheck);
        Assert.Same(BufferPoolOptions.Server.ClassPolicies, options.ClassPolicies);
        Assert.False(BufferPoolOptions.Server.LeakCheck);
    }

    [Fact]
    public void Nonsense_is_refused_with_a_sentence_that_says_what_to_do()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new BufferClassPolicy(-1, 1, TimeSpan.FromSeconds(1)));
        Assert.Throws<ArgumentOutOfRangeException>(() => new BufferClassPolicy(0, -1, TimeSpan.FromSeconds(1)));
        Assert.Throws<ArgumentOutOfRangeException>(() => new BufferClassPolicy(0, 1, TimeSpan.Zero));
        Assert.Throws<ArgumentOutOfRangeException>(() => new BufferClassPolicy(0, 1, TimeSpan.FromDays(50)));
        var policy = new BufferClassPolicy(2, 2, Timeout.InfiniteTimeSpan);
        Assert.Throws<ArgumentOutOfRangeException>(() => policy with { WarmCount = -1 });
        Assert.Throws<ArgumentOutOfRangeException>(() => policy with { TrimAfterIdle = TimeSpan.FromSeconds(-5) });

        ArgumentException tooFew = Assert.Throws<ArgumentException>(() => new BufferPoolOptions { ClassPolicies = [policy] });
        Assert.Contains("66 size classes, but 1", tooFew.Message, StringComparison.Ordinal);
        ArgumentException cold = Assert.Throws<ArgumentException>(
            () => new BufferPoolOptions
            {
                ClassPolicies =
                BufferPoolOptions.PerClass(size => size == 256 ? policy with { KeepLimit = 1 } : policy)
            });
        Assert.Contains("256 bytes warms 2 buffers but keeps only 1", cold.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentNullException>(() => new BufferPoolOptions { ClassPolicies = null! });
        Assert.Throws<ArgumentNullException>(() => new BufferPoolOptions { ClassPolicies = BufferPoolOptions.PerClass(static _ => null!) });
        Assert.Throws<ArgumentNullException>(() => new BufferPoolOptions { TimeProvider = null! });
        Assert.Throws<ArgumentNullException>(() => BufferPoolOptions.PerClass(null!));
        Assert.Throws<ArgumentNullException>(() => new BufferPool(null!));
    }
}
