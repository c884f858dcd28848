using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>What a registration says is what registries list: entries that a registry lost come back, refusals are asked again, and an
/// entry that nobody sees is not called registered.</summary>
public class RegistrationTruthTests
{
    private const string Here = "tcp://127.0.0.1:5";

    private static readonly ServiceReceiverOptions Options = new()
    {
        AckTimeout = TimeSpan.FromMinutes(1), // The clock may move before an answer has been read.
        RegistrySocket = { HeartbeatInterval = TimeSpan.Zero, HeartbeatTtl = TimeSpan.Zero },
    };

    public enum Loss
    {
        RemovedByHand,
        UnregisteredByTheFormerProcess,
        UnregisteredByAnotherReceiver,
    }

    [Theory]
    [InlineData(Loss.RemovedByHand)]
    [InlineData(Loss.UnregisteredByTheFormerProcess)]
    [InlineData(Loss.UnregisteredByAnotherReceiver)]
    public async Task An_entry_that_its_registry_lost_is_back_within_two_heartbeats_and_heartbeats_move_no_list(Loss loss)
    {
        var clock = new ManualTimeProvider();
        await using var scene = new RegistryFixture(clock);
        ServiceRegistry registry = scene.Start();
        await using var receiver = new ServiceReceiver(scene.Context, Options);
        receiver.ConnectRegistry(registry.RouterEndpoint);
        ServiceRegistration registration = await receiver.RegisterAsync("echo", Here, cancellationToken: Guard.Token).Guarded();
        switch (loss)
        {
            case Loss.RemovedByHand:
                Assert.True(registry.Remove(ServiceKind.Receiver, "echo", Here));
                Assert.Empty(registry.GetSnapshot().Entries);
                break;
            case Loss.UnregisteredByTheFormerProcess:
                Support.RegistryClient former = scene.Connect(registry.RouterEndpoint, StableRoutingId.Of(Here).Span.ToArray());
                await former.SendAsync(Support.RegistryClient.Unregister("echo", Here));
                await former.AskAsync(Support.RegistryClient.UpdateWeight("none", Here, 1)); // Behind its answer the one before is done.
                break;
            default:
                await using (var other = new ServiceReceiver(scene.Context, Options))
                {
                    other.ConnectRegistry(registry.RouterEndpoint);
                    await other.RegisterAsync("echo", Here, cancellationToken: Guard.Token).Guarded();
                }

                await Guard.UntilAsync(() => registry.GetSnapshot().Requests >= 3, "the other one has left");
                break;
        }

        await TwoHeartbeatsAsync();
        await Guard.UntilAsync(() => registry.GetSnapshot().Entries is [{ Instance.Endpoint: Here }], "it is listed again");
        Assert.Equal(RegistrationState.Registered, registration.State);

        ulong sequence = registry.GetSnapshot().Sequence;
        DateTimeOffset? accepted = registration.GetRegistries()[0].AcceptedAt;
        await TwoHeartbeatsAsync();
        await Guard.UntilAsync(() => registration.GetRegistries()[0].AcceptedAt > accepted, "a heartbeat is answered");
        Assert.Equal(sequence, registry.GetSnapshot().Sequence);

        async Task TwoHeartbeatsAsync()
        {
            for (int i = 0; i < 2; i++)
            {
                long requests = registry.GetSnapshot().Requests;
                await AdvanceUntilAsync(clock, () => registry.GetSnapshot().Requests > requests);
            }
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_registry_that_does_not_say_that_it_is_ours_gets_the_heartbeats_of_native_receivers_alone(bool isOurs)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        using var registry = new ScriptedRegistry(fixture.Context) { HasMark = isOurs };
        await using var receiver = new ServiceReceiver(fixture.Context, Options);
        receiver.ConnectRegistry(registry.RouterEndpoint);
        await receiver.RegisterAsync("echo", Here, cancellationToken: Guard.Token).Guarded();
        for (int i = 2; i <= 7; i++)
        {
            await AdvanceUntilAsync(clock, () => registry.Requests.Count == i);
        }

        string register = $"REGISTER echo {Here} 1";
        string heartbeat = $"HEARTBEAT echo {Here}";
        string second = isOurs ? register : heartbeat;
        Assert.Equal([register, heartbeat, second, heartbeat, second, heartbeat, second], registry.Requests, StringComparer.Ordinal);
    }

    [Fact]
    public async Task A_registration_that_was_refused_once_is_accepted_when_the_registry_can()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        bool isFull = true;
        using var registry = new ScriptedRegistry(
            fixture.Context, _ => isFull ? (AckStatus.Refused, "registry full") : (AckStatus.Done, ""));
        await using var receiver = new ServiceReceiver(fixture.Context, Options);
        receiver.ConnectRegistry(registry.RouterEndpoint);
        ServiceRegistration registration = receiver.Register("echo", Here);
        await Guard.UntilAsync(() => registration.State == RegistrationState.Refused, "it is refused");
        RegistryStatus refused = registration.GetRegistries()[0];
        Assert.Equal(("registry full", AckStatus.Refused), (refused.Detail, refused.StatusCode));
        Assert.InRange((refused.RetryAt - clock.GetUtcNow())!.Value.TotalSeconds, 5, 6.25);

        isFull = false;
        clock.Advance(TimeSpan.FromSeconds(6.25));
        await Guard.UntilAsync(() => registration.State == RegistrationState.Registered, "it is asked again");
        Assert.Null(registration.GetRegistries()[0].RetryAt);
    }

    [Fact]
    public async Task A_refused_weight_is_no_answer_to_the_next_one()
    {
        await using var fixture = new ContextFixture();
        using var registry = new ScriptedRegistry(fixture.Context,
            static request => request.EndsWith(" 9", StringComparison.Ordinal) ? (AckStatus.Refused, "too heavy") : (AckStatus.Done, ""));
        await using var receiver = new ServiceReceiver(fixture.Context);
        receiver.ConnectRegistry(registry.RouterEndpoint);
        ServiceRegistration registration = await receiver.RegisterAsync("echo", Here, cancellationToken: Guard.Token).Guarded();
        ServiceException refusal = await Assert.ThrowsAsync<ServiceException>(
            () => registration.UpdateWeightAsync(9, Guard.Token).Guarded());
        Assert.Contains("too heavy", refusal.Message, StringComparison.Ordinal);
        await registration.UpdateWeightAsync(2, Guard.Token).Guarded();
        Assert.Equal((RegistrationState.Registered, 2u), (registration.State, registration.GetRegistries()[0].Weight));
    }

    [Theory]
    [InlineData("127.0.0.1", false)]
    [InlineData("127.0.0.1", true)]
    [InlineData("localhost", true)]
    public async Task An_entry_that_the_own_discovery_does_not_see_for_two_heartbeats_is_unconfirmed(string follows, bool isListedFirst)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        using var registry = new ScriptedRegistry(fixture.Context);
        await using var discovery = new RegistryDirectory(fixture.Context);
        discovery.ConnectRegistry(registry.PublisherEndpoint.Replace("127.0.0.1", follows, StringComparison.Ordinal));
        await registry.WaitForSubscribersAsync();
        await using var receiver = new ServiceReceiver(fixture.Context, Options);
        receiver.ConnectRegistry(registry.RouterEndpoint);
        ServiceRegistration registration = await receiver.RegisterAsync("echo", Here, cancellationToken: Guard.Token).Guarded();
        ulong sequence = 0;
        if (isListedFirst)
        {
            await ShowAsync(("echo", Here, 1));
            await HeartbeatAsync();
        }

        await ShowAsync(("other", Here, 1));
        await HeartbeatAsync();
        Assert.Equal(RegistrationState.Registered, registration.State);
        await HeartbeatAsync();
        await Guard.UntilAsync(() => registration.State == RegistrationState.Unconfirmed, "nobody sees it");
        Assert.Contains("do not contain it", registration.GetRegistries()[0].Detail, StringComparison.Ordinal);

        await ShowAsync(("echo", Here, 1));
        await HeartbeatAsync();
        await Guard.UntilAsync(() => registration.State == RegistrationState.Registered, "it is seen again");
        Assert.All(registry.Requests.Skip(1), static request => Assert.Equal($"HEARTBEAT echo {Here}", request));

        async Task ShowAsync((string Service, string Endpoint, int Weight) instance)
        {
            registry.Publish(1, ++sequence, instance);
            await Guard.UntilAsync(() => discovery.GetRegistries()[0].Sequence == sequence, "the list came");
        }

        async Task HeartbeatAsync()
        {
            int requests = registry.Requests.Count;
            await AdvanceUntilAsync(clock, () => registry.Requests.Count > requests);
        }
    }

    [Fact]
    public async Task A_discovery_of_other_registries_says_nothing_about_an_entry()
    {
        // A process may ask in one group of registries and serve in another.
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        using var registry = new ScriptedRegistry(fixture.Context);
        using var elsewhere = new ScriptedRegistry(fixture.Context);
        await using var discovery = new RegistryDirectory(fixture.Context);
        discovery.ConnectRegistry(elsewhere.PublisherEndpoint.Replace("127.0.0.1", "localhost", StringComparison.Ordinal));
        await elsewhere.WaitForSubscribersAsync();
        elsewhere.Publish(1, 1, ("other", Here, 1));
        await discovery.WaitForAsync("other", cancellationToken: Guard.Token).Guarded();
        await using var receiver = new ServiceReceiver(fixture.Context, Options);
        receiver.ConnectRegistry(registry.RouterEndpoint);
        ServiceRegistration registration = await receiver.RegisterAsync("echo", Here, cancellationToken: Guard.Token).Guarded();
        for (int i = 2; i <= 5; i++)
        {
            await AdvanceUntilAsync(clock, () => registry.Requests.Count == i);
        }

        await fixture.SettleAsync();
        Assert.Equal(RegistrationState.Registered, registration.State);
    }

    /// <summary>A link may set its timer for what is due already behind the move of the clock.</summary>
    private static Task AdvanceUntilAsync(ManualTimeProvider clock, Func<bool> condition)
    {
        clock.Advance(Options.HeartbeatInterval);
        return Guard.UntilAsync(
            () =>
            {
                clock.Advance(TimeSpan.Zero);
                return condition();
            },
            "the heartbeat came");
    }
}
