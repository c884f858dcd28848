using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>A DEALER that follows a service.</summary>
public sealed class ServiceFollowerTests : IAsyncDisposable
{
    private readonly ContextFixture _fixture = new();

    public ValueTask DisposeAsync() => _fixture.DisposeAsync();

    [Fact]
    public async Task A_dealer_moves_with_the_service_from_one_router_to_another()
    {
        (RouterSocket first, RouterSocket second) = (_fixture.Context.CreateRouter(), _fixture.Context.CreateRouter());
        var directory = new StaticDirectory();
        DealerSocket dealer = _fixture.Context.CreateDealer(new DealerOptions { Immediate = true });
        await using var follower = new ServiceFollower(_fixture.Context, dealer, directory, "orders");
        directory.SetService("orders", new ServiceInstance("orders", first.Bind("tcp://127.0.0.1:*")));
        await dealer.SendAsync("1"u8.ToArray(), Guard.Token).Guarded();
        Assert.Equal("1", await NextAsync(first));

        string next = second.Bind("tcp://127.0.0.1:*");
        directory.SetService("orders", new ServiceInstance("orders", next));
        await _fixture.UntilAsync(() => dealer.PeerCount == 1 && dealer.ConnectedEndpoints is [var only]
            && string.Equals(only, next, StringComparison.Ordinal));
        await dealer.SendAsync("2"u8.ToArray(), Guard.Token).Guarded();
        Assert.Equal("2", await NextAsync(second));

        directory.SetService("orders");
        await _fixture.UntilAsync(() => dealer.ConnectedEndpoints.Count == 0);
    }

    [Fact]
    public async Task An_instance_that_is_no_endpoint_does_not_keep_the_others_from_being_connected()
    {
        RouterSocket router = _fixture.Context.CreateRouter();
        string bound = router.Bind("tcp://127.0.0.1:*");
        var directory = new StaticDirectory(new ServiceInstance("a", "http://nowhere"), new ServiceInstance("a", bound));
        DealerSocket dealer = _fixture.Context.CreateDealer();
        await using var follower = new ServiceFollower(_fixture.Context, dealer, directory, "a");
        await _fixture.UntilAsync(() => dealer.ConnectedEndpoints.Count == 1);
        Assert.Equal([bound], dealer.ConnectedEndpoints, StringComparer.Ordinal);
    }

    [Fact]
    public async Task The_end_of_the_directory_or_of_the_follower_leaves_the_connections()
    {
        RouterSocket router = _fixture.Context.CreateRouter();
        var directory = new StaticDirectory(new ServiceInstance("a", router.Bind("tcp://127.0.0.1:*")));
        DealerSocket dealer = _fixture.Context.CreateDealer();
        var follower = new ServiceFollower(_fixture.Context, dealer, directory, "a");
        await _fixture.UntilAsync(() => dealer.ConnectedEndpoints.Count == 1);
        directory.Complete();
        await follower.DisposeAsync().Guarded();
        await follower.DisposeAsync().Guarded();
        directory.SetService("a");
        await dealer.SendAsync("still"u8.ToArray(), Guard.Token).Guarded();
        Assert.Equal("still", await NextAsync(router));
    }

    private static async Task<string> NextAsync(RouterSocket router)
    {
        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        return message.GetString();
    }
}
