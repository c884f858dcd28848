using System.Collections.Concurrent;
using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Services.Tests.Support.RegistryClient;

namespace Net.Zlink.Services.Tests;

/// <summary>The application's policy: who is asked about what, in which order, and what a slow one costs.</summary>
public sealed class RegistryAdmissionTests
{
    private readonly ConcurrentQueue<RegistrationRequest> _asked = new();
    private readonly ConcurrentDictionary<string, TaskCompletionSource<RegistrationAdmission>> _slow = new(StringComparer.Ordinal);

    [Fact]
    public async Task What_waits_for_a_decision_holds_up_its_own_connection_in_order_and_no_other()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start(WithPolicy);
        Support.RegistryClient slow = fixture.Connect(registry, "slow");
        await slow.SendAsync(Register("s", "slow"));
        await slow.SendAsync(U16(1)); // Malformed, and answered behind the first.
        await slow.SendAsync(UpdateWeight("s", "slow", 7));
        Assert.Equal("0 e ", await fixture.Connect(registry, "other").AskAsync(Register("s", "e")));
        Assert.Equal(["e"], registry.GetSnapshot().Entries.Select(static entry => entry.Instance.Endpoint), StringComparer.Ordinal);
        Decide("slow", RegistrationAdmission.Accept);
        Assert.Equal("0 slow ", await slow.ReadAckAsync());
        Assert.Equal("ff  invalid register", await slow.ReadAckAsync());
        Assert.Equal("0 slow ", await slow.ReadAckAsync());
        Assert.Equal(7u, registry.GetSnapshot().Entries.Single(static entry => entry.Instance.Endpoint is "slow").Instance.Weight);
    }

    [Fact]
    public async Task A_slow_decision_is_asked_for_once_however_often_its_client_connects_again()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start(WithPolicy);
        for (int i = 0; i < 3; i++)
        {
            Support.RegistryClient gone = fixture.Connect(registry, "x");
            await gone.SendAsync(Register("s", "slow"));
            await Guard.UntilAsync(() => _asked.Count == 1 && registry.GetSnapshot().UndecidedClients == 1, "the request waits");
            gone.Dispose();
            await Guard.UntilAsync(() => registry.GetSnapshot() is { Clients: 0, UndecidedClients: 0 }, "the client has gone");
        }

        Support.RegistryClient last = fixture.Connect(registry, "x");
        await last.SendAsync(Register("s", "slow"));
        await Guard.UntilAsync(() => registry.GetSnapshot().UndecidedClients == 1, "the last request waits");
        Decide("slow", RegistrationAdmission.Accept);
        Assert.Equal("0 slow ", await last.ReadAckAsync());
        Assert.Equal("0 slow ", await last.AskAsync(Register("s", "slow"))); // An answered heartbeat.
        Assert.Single(_asked);
    }

    [Fact]
    public async Task A_decision_that_does_not_come_refuses_for_now_and_its_token_is_cancelled()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        using var cancelled = new CancellationTokenSource();
        ServiceRegistry registry = fixture.Start(options => options.Admission = (request, token) =>
            {
                token.Register(cancelled.Cancel);
                _asked.Enqueue(request);
                return new(new TaskCompletionSource<RegistrationAdmission>().Task);
            });
        Support.RegistryClient client = fixture.Connect(registry, "x");
        await client.SendAsync(Register("s", "e"));
        await Guard.UntilAsync(() => _asked.Count == 1, "it is asked");
        clock.Advance(TimeSpan.FromSeconds(4));
        Assert.Equal("3 e admission timed out", await client.ReadAckAsync());
        Assert.True(cancelled.IsCancellationRequested);
    }

    [Fact]
    public async Task Who_is_not_the_owner_needs_more_than_to_be_accepted()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start(WithPolicy);
        Support.RegistryClient owner = fixture.Connect(registry, "owner");
        await owner.AskAsync(Register("s", "e"));
        Support.RegistryClient stranger = fixture.Connect(registry, "stranger");
        Assert.Equal("ff e not the owner", await stranger.AskAsync(UpdateWeight("s", "e", 9)));
        Support.RegistryClient tool = fixture.Connect(registry, "tool");
        Assert.Equal("0 e ", await tool.AskAsync(UpdateWeight("s", "e", 9)));
        Assert.Equal("2 e too heavy", await owner.AskAsync(UpdateWeight("s", "e", 1000)));
        await tool.SendAsync(Unregister("s", "e"));
        await Guard.UntilAsync(() => registry.GetSnapshot().Entries.Count == 0, "the tool removes it");
        Assert.Equal(
            [(RegistrationRequestType.Register, true), (RegistrationRequestType.UpdateWeight, false),
                (RegistrationRequestType.UpdateWeight, false), (RegistrationRequestType.UpdateWeight, true),
                (RegistrationRequestType.Unregister, false)],
            _asked.Select(static request => (request.Type, request.IsOwner)));
    }

    [Fact]
    public void A_stranger_s_heartbeat_is_asked_about_once_and_renews_nothing()
    {
        var state = new RegistryState(new RegistrySettings(1, TimeSpan.FromSeconds(15), TimeSpan.FromHours(1)), 0);
        var key = new EntryKey(new ServiceKey(1, new ServiceText("s")), new ServiceText("e"));
        var stranger = new RegistrySender(RoutingId.FromText("owner"), "192.0.2.2");
        state.Handle(default, new RegistryRequest(MessageIds.Register, key), new RegistrySender(RoutingId.FromText("owner"), "192.0.2.1"));
        TimeSpan later = TimeSpan.FromSeconds(10);
        var heartbeat = new RegistryRequest(MessageIds.Heartbeat, key);
        Assert.True(state.AsksAdmission(heartbeat, stranger, out bool isOwner));
        Assert.False(isOwner);
        state.Handle(later, heartbeat, stranger);
        Assert.False(state.AsksAdmission(heartbeat, stranger, out _));
        for (TimeSpan now = default; now < TimeSpan.FromSeconds(16); now += RegistryState.ShortestTick)
        {
            state.Tick(now);
        }

        Assert.Empty(state.All);
    }

    private void WithPolicy(ServiceRegistryOptions options)
    {
        options.AdmissionTimeout = TimeSpan.FromMinutes(10);
        options.Admission = (request, _) =>
        {
            _asked.Enqueue(request);
            return request.Endpoint is "slow" && request.Type == RegistrationRequestType.Register ? new(Slow("slow").Task)
                : new(request.RoutingId == RoutingId.FromText("tool") ? RegistrationAdmission.AcceptFromAnyone
                    : request.Weight > 100 ? RegistrationAdmission.Refuse("too heavy") : RegistrationAdmission.Accept);
        };
    }

    private TaskCompletionSource<RegistrationAdmission> Slow(string endpoint) =>
        _slow.GetOrAdd(endpoint, static _ => new(TaskCreationOptions.RunContinuationsAsynchronously));

    private void Decide(string endpoint, RegistrationAdmission admission) => Slow(endpoint).SetResult(admission);
}
