using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class RegistrationTests
{
    private const string Here = "tcp://127.0.0.1:5";

    [Fact]
    public async Task A_registration_is_sent_to_every_registry_and_taken_back_with_its_own_endpoint()
    {
        await using var fixture = new ContextFixture();
        using var one = new ScriptedRegistry(fixture.Context);
        using var two = new ScriptedRegistry(fixture.Context);
        await using var receiver = new ServiceReceiver(fixture.Context);
        receiver.ConnectRegistry(one.RouterEndpoint);
        receiver.ConnectRegistry(two.RouterEndpoint);
        receiver.ConnectRegistry(two.RouterEndpoint);

        ServiceRegistration echo = await receiver.RegisterAsync("echo", Here, weight: 3, Guard.Token).Guarded();
        ServiceRegistration other = await receiver.RegisterAsync("other", "tcp://127.0.0.1:6", cancellationToken: Guard.Token).Guarded();
        await Guard.UntilAsync(() => echo.GetRegistries().Count(static status => status.State == RegistrationState.Registered) == 2,
            "both list it");
        Assert.Equal((RegistrationState.Registered, 3u), (echo.State, echo.Weight));
        await echo.UpdateWeightAsync(0, Guard.Token).Guarded();
        await echo.DisposeAsync();
        Assert.Equal(RegistrationState.Ended, echo.State);
        Assert.Equal([RegistrationState.Ended], await echo.WatchAsync(Guard.Token).ToListAsync(Guard.Token));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => echo.UpdateWeightAsync(2, TestContext.Current.CancellationToken));

        await receiver.DisposeAsync();
        foreach (ScriptedRegistry registry in new[] { one, two })
        {
            await registry.WaitForAsync($"UNREGISTER echo {Here}");
            await registry.WaitForAsync("UNREGISTER other tcp://127.0.0.1:6");
            Assert.Equal([$"REGISTER echo {Here} 3", $"UPDATE_WEIGHT echo {Here} 1", $"UNREGISTER echo {Here}"],
                registry.Requests.Where(static request => request.Contains("echo", StringComparison.Ordinal)), StringComparer.Ordinal);
        }

        Assert.Equal(RegistrationState.Ended, other.State);
        Assert.Equal(2, one.Senders.Distinct().Count());
        Assert.Contains(StableRoutingId.Of(Here), one.Senders);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_routing_id_that_is_set_on_the_socket_before_a_registry_is_connected_is_listed_for_the_first_endpoint(bool isLater)
    {
        await using var fixture = new ContextFixture();
        using var registry = new ScriptedRegistry(fixture.Context);
        var mine = RoutingId.FromText("mine");
        await using var receiver = new ServiceReceiver(fixture.Context, new ServiceReceiverOptions
        {
            Socket = { RoutingId = isLater ? RoutingId.FromText("other") : mine },
        });
        if (isLater)
        {
            receiver.Socket.Options.RoutingId = mine;
        }

        receiver.ConnectRegistry(registry.RouterEndpoint);
        await receiver.RegisterAsync("first", Here, cancellationToken: Guard.Token).Guarded();
        await receiver.RegisterAsync("second", "tcp://127.0.0.1:6", cancellationToken: Guard.Token).Guarded();
        Assert.Equal(mine, receiver.RoutingId);
        Assert.Equal([mine, StableRoutingId.Of("tcp://127.0.0.1:6")], registry.Senders.Distinct());
    }

    [Fact]
    public async Task Disposing_ends_at_once_while_a_registration_waits_for_an_answer()
    {
        // The native receiver holds its lock during that wait: heartbeats stop, and destroying it waits for ever.
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        using var silent = new ScriptedRegistry(fixture.Context, static _ => null);
        using var answering = new ScriptedRegistry(
            fixture.Context, static request => request.StartsWith("UPDATE", StringComparison.Ordinal) ? null : (AckStatus.Done, ""));
        await using var receiver =
            new ServiceReceiver(fixture.Context, new ServiceReceiverOptions { AckTimeout = TimeSpan.FromSeconds(60) });
        receiver.ConnectRegistry(answering.RouterEndpoint);
        ServiceRegistration first = await receiver.RegisterAsync("first", Here, cancellationToken: Guard.Token).Guarded();
        receiver.ConnectRegistry(silent.RouterEndpoint);
        ServiceRegistration second = receiver.Register("second", Here);
        Task update = first.UpdateWeightAsync(5, Guard.Token);
        await silent.WaitForAsync($"REGISTER second {Here} 1");
        await answering.WaitForAsync($"UPDATE_WEIGHT first {Here} 5");

        clock.Advance(TimeSpan.FromSeconds(5));
        await answering.WaitForAsync($"HEARTBEAT first {Here}");
        Assert.False(update.IsCompleted);
        await receiver.DisposeAsync().Guarded();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => update.Guarded());
        Assert.Equal(RegistrationState.Ended, second.State);
    }

    [Fact]
    public async Task A_refusal_carries_the_status_and_the_text_of_the_registry()
    {
        await using var fixture = new ContextFixture();
        using var registry = new ScriptedRegistry(fixture.Context, static _ => (AckStatus.Refused, "not you"));
        await using var receiver = new ServiceReceiver(fixture.Context);
        await Assert.ThrowsAsync<InvalidOperationException>(
            () => receiver.RegisterAsync("echo", Here, cancellationToken: TestContext.Current.CancellationToken));
        receiver.ConnectRegistry(registry.RouterEndpoint);

        ServiceException refusal = await Assert.ThrowsAsync<ServiceException>(
            () => receiver.RegisterAsync("echo", Here, cancellationToken: Guard.Token).Guarded());

        Assert.Equal((ServiceError.RegistrationRefused, AckStatus.Refused), (refusal.Error, refusal.Code));
        Assert.Contains("not you", refusal.Message, StringComparison.Ordinal);
        ServiceRegistration again = receiver.Register("echo", Here);
        Assert.Throws<InvalidOperationException>(() => receiver.Register("echo", Here));
        await Guard.UntilAsync(() => again.State == RegistrationState.Refused, "it is refused again");
        Assert.Contains("not you", receiver.Describe(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_registry_that_is_restarted_is_told_again()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        string endpoint;
        ServiceRegistration registration;
        using (var registry = new ScriptedRegistry(fixture.Context))
        {
            endpoint = registry.RouterEndpoint;
            receiver.ConnectRegistry(endpoint);
            registration = await receiver.RegisterAsync("echo", Here, cancellationToken: Guard.Token).Guarded();
        }

        await Guard.UntilAsync(() => registration.State == RegistrationState.Unreachable, "the registry is gone");
        Task update = registration.UpdateWeightAsync(7, Guard.Token);
        using var next = new ScriptedRegistry(fixture.Context, routerEndpoint: endpoint);
        await Guard.UntilAsync(() => registration.State == RegistrationState.Registered, "it is registered anew");
        await update.Guarded();
        Assert.Equal($"REGISTER echo {Here} 7", next.Requests.First());
    }

    [Fact]
    public async Task A_registry_over_inproc_may_be_bound_later_and_may_go()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        receiver.ConnectRegistry("inproc://registry");
        Task<ServiceRegistration> registering = receiver.RegisterAsync("echo", Here, cancellationToken: Guard.Token);
        var registry = new ScriptedRegistry(fixture.Context, routerEndpoint: "inproc://registry");
        ServiceRegistration registration = await registering.Guarded();
        registry.Dispose();
        await Guard.UntilAsync(() => registration.State == RegistrationState.Unreachable, "the registry is gone");
        using var next = new ScriptedRegistry(fixture.Context, routerEndpoint: "inproc://registry");
        await next.WaitForAsync($"REGISTER echo {Here} 1");
    }

    [Fact]
    public async Task A_text_that_is_no_endpoint_is_refused_and_not_remembered()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        foreach (string text in new[] { "registry:5561", "tcp://127.0.0.1:99999", "tcp://", "udp://127.0.0.1:1" })
        {
            Assert.Throws<ZlinkException>(() => receiver.ConnectRegistry(text));
            Assert.False(receiver.DisconnectRegistry(text));
        }
    }

    [Fact]
    public async Task A_suspended_process_registers_anew_when_it_goes_on()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        using var registry = new ScriptedRegistry(fixture.Context);
        await using var receiver = new ServiceReceiver(fixture.Context,
            new ServiceReceiverOptions
            {
                RegistrySocket = { HeartbeatInterval = TimeSpan.Zero, HeartbeatTtl = TimeSpan.Zero }
            });
        receiver.ConnectRegistry(registry.RouterEndpoint);
        await receiver.RegisterAsync("echo", Here, cancellationToken: Guard.Token).Guarded();

        clock.Advance(TimeSpan.FromSeconds(5));
        await registry.WaitForAsync($"HEARTBEAT echo {Here}");
        await fixture.SettleAsync();
        clock.Advance(TimeSpan.FromSeconds(11));
        await Guard.UntilAsync(
            () =>
            {
                clock.Advance(TimeSpan.Zero); // The link may have set its timer behind the move of the clock.
                return registry.Requests.Count(static seen => seen.StartsWith("REGISTER", StringComparison.Ordinal)) == 2;
            },
            "it is registered anew");
    }

    [Fact]
    public async Task A_given_routing_id_is_the_first_endpoints_and_others_have_their_own()
    {
        await using var fixture = new ContextFixture();
        using var registry = new ScriptedRegistry(fixture.Context);
        await using var receiver = new ServiceReceiver(
            fixture.Context, new ServiceReceiverOptions { Socket = { RoutingId = RoutingId.FromText("mine") } });
        receiver.ConnectRegistry(registry.RouterEndpoint);
        await receiver.RegisterAsync("echo", Here, cancellationToken: Guard.Token).Guarded();
        await receiver.RegisterAsync("other", Here, cancellationToken: Guard.Token).Guarded();
        await receiver.RegisterAsync("echo", "tcp://127.0.0.1:6", cancellationToken: Guard.Token).Guarded();

        Assert.Equal([RoutingId.FromText("mine"), RoutingId.FromText("mine"), StableRoutingId.Of("tcp://127.0.0.1:6")], registry.Senders);
    }
}
