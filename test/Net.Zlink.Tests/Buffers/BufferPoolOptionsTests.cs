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
        using var pool = new BufferPool(new BufferPoolOptions { ClassPolicies = BufferPoolOptions.ServerPolicies });
        BufferPoolStatistics statistics = pool.GetStatistics();
        Assert.InRange(statistics.BytesKept, 32_000_000, 64_000_000);
        Assert.All(statistics.Classes, static one => Assert.Equal(one.Size <= TestPools.LargestWarmed, one.Kept > 0));
    }

    [Fact]
    public void The_presets_keep_what_10000_connections_hold_at_once_in_the_small_classes_and_trim_when_idle()
    {
        foreach (var preset in new[] { new BufferPoolOptions().ClassPolicies, BufferPoolOptions.ServerPolicies })
        {
            for (int index = 0; index < BufferPool.ClassSizes.Length; index++)
            {
                BufferClassPolicy policy = preset[index];
                Assert.True(BufferPool.ClassSizes[index] > 4_096 || policy.KeepLimit >= 10_000);
                Assert.NotEqual(Timeout.InfiniteTimeSpan, policy.TrimAfterIdle);
            }
        }
    }

    [Fact]
    public void A_pool_takes_its_settings_at_its_creation()
    {
        BufferClassPolicy[] policies =
            [.. BufferPoolOptions.PerClass(static _ => new BufferClassPolicy { WarmCount = 1, KeepLimit = 1 })];
        var options = new BufferPoolOptions { ClassPolicies = policies };
        using var pool = new BufferPool(options);
        policies[0] = new BufferClassPolicy { WarmCount = 5, KeepLimit = 5 };
        pool.Trim();
        Assert.Equal(1, pool.ClassOf(128).Kept);
    }

    [Fact]
    public void Nonsense_is_refused_with_a_sentence_that_says_what_to_do()
    {
        AssertRefused(new BufferClassPolicy { WarmCount = -1 }, "for 256 bytes that cannot be: WarmCount takes 0 and above, not -1.");
        AssertRefused(new BufferClassPolicy { KeepLimit = -1 }, "KeepLimit takes WarmCount (0) and above, not -1.");
        AssertRefused(new BufferClassPolicy { TrimAfterIdle = TimeSpan.Zero }, "TrimAfterIdle takes a time above TimeSpan.Zero");
        AssertRefused(new BufferClassPolicy { TrimAfterIdle = TimeSpan.FromDays(50) }, "at most 49 days");
        AssertRefused(new BufferClassPolicy { WarmCount = 2, KeepLimit = 1 }, "KeepLimit takes WarmCount (2) and above, not 1.");
        AssertRefused(null, "for 256 bytes that cannot be: it is null.");
        Assert.Contains("takes 66 policies, one for each size class, not 1;", Assert.Throws<ArgumentOutOfRangeException>(
            "ClassPolicies", () => new BufferPool(new BufferPoolOptions { ClassPolicies = [new BufferClassPolicy()] })).Message,
            StringComparison.Ordinal);
        Assert.Throws<ArgumentNullException>("ClassPolicies", () => new BufferPool(new BufferPoolOptions { ClassPolicies = null! }));
        Assert.Throws<ArgumentNullException>("TimeProvider", () => new BufferPool(new BufferPoolOptions { TimeProvider = null! }));
        Assert.Throws<ArgumentNullException>(() => BufferPoolOptions.PerClass(null!));
        Assert.Throws<ArgumentNullException>(() => new BufferPool(null!));
    }

    private static void AssertRefused(BufferClassPolicy? policy, string sentence)
    {
        var options = new BufferPoolOptions
        {
            ClassPolicies = BufferPoolOptions.PerClass(size => size == 256 ? policy! : new BufferClassPolicy())
        };
        Assert.Contains(sentence, Assert.ThrowsAny<ArgumentException>(() => new BufferPool(options)).Message, StringComparison.Ordinal);
    }
}
