using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Options;

/// <summary>An options object is one socket's.</summary>
public sealed class OwnOptionsTests
{
    [Fact]
    public async Task Options_of_another_socket_are_refused_and_the_first_socket_keeps_its_own()
    {
        await using var fixture = new ContextFixture();
        var options = new DealerOptions();
        DealerSocket first = fixture.Context.CreateDealer(options);

        var refusal = Assert.Throws<InvalidOperationException>(() => fixture.Context.CreateDealer(options));

        Assert.Contains("DealerOptions", refusal.Message, StringComparison.Ordinal);
        Assert.Same(options, first.Options);
        Assert.Equal(1, fixture.Context.GetStatistics().Sockets);
        Assert.Throws<InvalidOperationException>(() => fixture.Context.CreateStream(Taken(fixture.Context)));
    }

    [Fact]
    public async Task Options_of_a_socket_that_could_not_be_made_serve_the_next_attempt()
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { MaxSockets = 1 });
        PairSocket only = context.CreatePair();
        var options = new RouterOptions { Mandatory = true };
        Assert.Equal(ZlinkError.TooManySockets, Assert.Throws<ZlinkException>(() => context.CreateRouter(options)).Error);

        only.Dispose();
        RouterSocket router = context.CreateRouter(options);

        Assert.True(router.Options.Mandatory);
    }

    private static StreamOptions Taken(ZlinkContext context)
    {
        var options = new StreamOptions();
        _ = context.CreateStream(options);
        return options;
    }
}
