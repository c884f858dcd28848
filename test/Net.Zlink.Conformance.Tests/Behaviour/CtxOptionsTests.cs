using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_ctx_options, for the options that exist here: thread scheduling, names and message struct sizes are the native core's own affair.</summary>
public sealed class CtxOptionsTests
{
    [Fact]
    public void A_context_has_room_for_1023_sockets_and_a_shard_for_each_processor()
    {
        var options = new ZlinkContextOptions();
        Assert.Equal(1023, options.MaxSockets);
        Assert.Equal(Environment.ProcessorCount, options.ShardCount); // The native core has 2 I/O threads, and uses one.
    }

    [Fact]
    public void Values_out_of_range_are_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new ZlinkContextOptions { MaxSockets = 0 });
        Assert.Throws<ArgumentOutOfRangeException>(() => new ZlinkContextOptions { MaxSockets = -1 });
        Assert.Throws<ArgumentOutOfRangeException>(() => new ZlinkContextOptions { ShardCount = 0 });
        Assert.Throws<ArgumentOutOfRangeException>(() => new ZlinkContextOptions { ShardCount = -1 });
    }

    [Fact]
    public async Task A_fresh_socket_speaks_IPv4_and_lingers_for_ever_but_subscribers_do_not_linger()
    {
        await using var fixture = new StreamFixture();
        Assert.False(fixture.Context.CreateDealer().Options.IPv6);
        Assert.Equal(Timeout.InfiniteTimeSpan, fixture.Context.CreateDealer().Options.Linger);
        Assert.Equal(Timeout.InfiniteTimeSpan, fixture.Context.CreatePub().Options.Linger);
        Assert.Equal(TimeSpan.Zero, fixture.Context.CreateSub().Options.Linger);
        Assert.Equal(TimeSpan.Zero, fixture.Context.CreateXSub().Options.Linger);
    }
}
