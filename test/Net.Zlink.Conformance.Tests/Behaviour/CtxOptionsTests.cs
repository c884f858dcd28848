using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_ctx_options, for the options that exist here: thread scheduling, names, message struct sizes and a limit
/// above that of sockets are the native core's own affair.</summary>
public sealed class CtxOptionsTests
{
    // The native numbers.
    private const int Linger = 17;
    private const int IPv6 = 42;
    private const int Blocky = 70;

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
        Assert.Throws<ArgumentOutOfRangeException>(new ZlinkContextOptions { MaxSockets = 0 }.Validate);
        Assert.Throws<ArgumentOutOfRangeException>(new ZlinkContextOptions { MaxSockets = -1 }.Validate);
        Assert.Throws<ArgumentOutOfRangeException>(new ZlinkContextOptions { ShardCount = 0 }.Validate);
        Assert.Throws<ArgumentOutOfRangeException>(new ZlinkContextOptions { ShardCount = -1 }.Validate);
    }

    [Fact]
    public async Task With_IPV6_1_the_sockets_of_a_context_have_IPV6_and_linger_as_before()
    {
        var options = new ZlinkContextOptions();
        Assert.Equal(0, NativeOptions.GetInt32(options, IPv6));
        NativeOptions.Set(options, IPv6, 1);
        Assert.Equal(1, NativeOptions.GetInt32(options, IPv6));
        await using var context = new ZlinkContext(options);
        using RouterSocket router = context.CreateRouter();
        Assert.Equal((1, -1), (NativeOptions.GetInt32(router, IPv6), NativeOptions.GetInt32(router, Linger)));
    }

    [Fact]
    public async Task With_BLOCKY_0_the_sockets_of_a_context_do_not_linger()
    {
        var options = new ZlinkContextOptions();
        NativeOptions.Set(options, Blocky, 0);
        Assert.Equal(0, NativeOptions.GetInt32(options, Blocky));
        await using var context = new ZlinkContext(options);
        using RouterSocket router = context.CreateRouter();
        Assert.Equal(0, NativeOptions.GetInt32(router, Linger));
    }

    [Fact]
    public void Option_minus_1_is_EINVAL_to_set_and_to_get()
    {
        var options = new ZlinkContextOptions();
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.Set(options, -1, 0)).Error);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => NativeOptions.GetInt32(options, -1)).Error);
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
