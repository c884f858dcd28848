using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Engine;
using Xunit;

namespace Net.Zlink.Tests.Engine;

/// <summary>What peers make a context hold, and cannot be made to wait for.</summary>
[SuppressMessage("Security", "CA5394", Justification = "Chance that can be repeated is wanted here.")]
public sealed class FairLimitTests
{
    private const int KiB = 1024;
    private const int Limit = 1024 * KiB;

    [Fact]
    public void A_peer_that_holds_less_than_16_KiB_is_not_counted_in_a_fair_limit()
    {
        var all = new FairLimit(1);
        var share = new FairLimitShare(all);
        Assert.True(share.TryReserve((16 * KiB) - 1));
        Assert.Equal(0, all.Bytes);
        Assert.False(share.TryReserve(16 * KiB));
        Assert.True(share.TryReserve(0));
        Assert.Equal(0, all.Bytes);
    }

    [Fact]
    public void Beyond_twice_the_limit_nobody_takes_more_however_little_it_is()
    {
        var all = new FairLimit(Limit);
        var hog = new FairLimitShare(all);
        Assert.False(hog.TryReserve(Limit + (Limit * 3 / 4))); // Counted until it has let go.
        var second = new FairLimitShare(all);
        Assert.True(second.TryReserve(Limit / 8));
        var third = new FairLimitShare(all);
        Assert.False(third.TryReserve(Limit / 4));
        Assert.True(hog.TryReserve(0));
        Assert.True(third.TryReserve((Limit / 4) + 1));
    }

    [Fact]
    public void At_the_limit_who_holds_more_than_the_mean_has_to_end_and_others_go_on()
    {
        var all = new FairLimit(Limit);
        var hog = new FairLimitShare(all);
        Assert.True(hog.TryReserve(Limit));
        var other = new FairLimitShare(all);
        Assert.True(other.TryReserve(100 * KiB));
        Assert.False(hog.TryReserve(Limit + KiB));
        Assert.Equal(
            $"the peer has sent {Limit + KiB} bytes of topics; all peers of the context together use {Limit + (101 * KiB)} of "
                + $"{Limit} bytes: raise ThatLimit to allow more",
            hog.Words("topics", "ThatLimit"));
        Assert.True(other.TryReserve(Limit / 2));
        Assert.False(other.TryReserve((Limit / 2) + 1));
        Assert.True(hog.TryReserve(0));
        Assert.True(other.TryReserve(Limit));
        Assert.True(other.TryReserve(0));
        Assert.Equal(0, all.Bytes);
    }

    [Fact]
    public void No_order_of_events_gets_past_twice_the_limit_and_nothing_stays_counted()
    {
        int seed = Random.Shared.Next();
        var random = new Random(seed);
        var all = new FairLimit(Limit);
        var held = new FairLimitShare[30];
        for (int i = 0; i < held.Length; i++)
        {
            held[i] = new FairLimitShare(all);
        }

        long[] bytes = new long[held.Length];
        for (int step = 0; step < 20_000; step++)
        {
            int who = random.Next(held.Length);
            bytes[who] = random.Next(4) == 0 ? 0 : bytes[who] + random.Next(200 * KiB);
            if (!held[who].TryReserve(bytes[who]))
            {
                bytes[who] = 0;
                Assert.True(held[who].TryReserve(0));
            }

            Assert.InRange(all.Bytes, 0, 2 * Limit);
            Assert.True(bytes.Where(static one => one >= 16 * KiB).Sum() == all.Bytes, $"seed {seed}, step {step}");
        }

        for (int i = 0; i < held.Length; i++)
        {
            Assert.True(held[i].TryReserve(0));
        }

        Assert.Equal(0, all.Bytes);
    }
}
