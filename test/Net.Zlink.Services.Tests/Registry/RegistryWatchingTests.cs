using System.Diagnostics.Metrics;
using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Services.Tests.Support.RegistryClient;

namespace Net.Zlink.Services.Tests;

/// <summary>What the people who operate a registry see: events, the snapshot, the description, the instruments.</summary>
public sealed class RegistryWatchingTests
{
    [Fact]
    public async Task Events_come_in_order_from_the_call_on_and_end_with_the_registry()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start(static options =>
        {
            options.Id = 7;
            options.Admission = static (request, _) => new(
            request.Endpoint is "no" ? RegistrationAdmission.Refuse("not here") : RegistrationAdmission.Accept);
        });
        await using IAsyncEnumerator<RegistryEvent> events = registry.WatchAsync(Guard.Token).GetAsyncEnumerator(Guard.Token);
        Support.RegistryClient client = fixture.Connect(registry, "x");
        await client.AskAsync(Register("s", "e", 2));
        await client.AskAsync(UpdateWeight("s", "e", 3));
        await client.AskAsync(Register("s", "no"));
        Assert.True(registry.Remove(ServiceKind.Receiver, "s", "e"));
        Assert.False(registry.Remove(ServiceKind.Receiver, "s", "e"));
        foreach ((RegistryEventType type, string endpoint, uint weight, string text) in new[]
        {
            (RegistryEventType.Registered, "e", 2u, ""), (RegistryEventType.Updated, "e", 3u, ""),
                (RegistryEventType.Refused, "no", 1u, "not here"), (RegistryEventType.Unregistered, "e", 3u, ""),
        })
        {
            Assert.True(await events.MoveNextAsync().Guarded());
            var instance = new ServiceInstance("s", endpoint) { RoutingId = RoutingId.FromText("x"), Weight = weight };
            Assert.Equal((type, 7u, ServiceKind.Receiver, instance, text),
                (events.Current.Type, events.Current.RegistryId, events.Current.Kind, events.Current.Instance!, events.Current.Text));
        }

        await registry.DisposeAsync().Guarded();
        Assert.False(await events.MoveNextAsync().Guarded());
        Assert.Equal(0, registry.GetSnapshot().OwnEntries);
    }

    [Fact]
    public async Task Events_can_be_followed_before_the_start_and_end_with_a_registry_that_never_started()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Create();
        await using IAsyncEnumerator<RegistryEvent> events = registry.WatchAsync(Guard.Token).GetAsyncEnumerator(Guard.Token);
        registry.Start();
        await fixture.Connect(registry, "x").AskAsync(Register("s", "e"));
        Assert.True(await events.MoveNextAsync().Guarded());
        Assert.Equal(RegistryEventType.Registered, events.Current.Type);

        ServiceRegistry unstarted = fixture.Create();
        IAsyncEnumerable<RegistryEvent> none = unstarted.WatchAsync(Guard.Token);
        await unstarted.DisposeAsync().Guarded();
        Assert.Empty(await none.ToListAsync(Guard.Token).AsTask().Guarded());
    }

    [Fact]
    public async Task A_slow_reader_of_events_misses_the_oldest_and_holds_a_bounded_number()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start();
        IAsyncEnumerable<RegistryEvent> events = registry.WatchAsync(Guard.Token);
        Support.RegistryClient client = fixture.Connect(registry, "x");
        const int Count = 1500;
        for (int i = 0; i < Count; i++)
        {
            await client.SendAsync(Register("s", $"{i:0000}"));
        }

        await Guard.UntilAsync(() => registry.GetSnapshot().OwnEntries == Count, "all are registered");
        await registry.DisposeAsync().Guarded();
        List<string> seen = [];
        await foreach (RegistryEvent one in events)
        {
            seen.Add(one.Instance!.Endpoint);
        }

        Assert.Equal(Enumerable.Range(Count - 1024, 1024).Select(static i => $"{i:0000}"), seen, StringComparer.Ordinal);
    }

    [Fact]
    public async Task The_description_names_entries_with_their_age_and_peers_with_their_state()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ServiceRegistry other = fixture.Start(static options => options.Id = 8);
        ServiceRegistry registry =
            fixture.Start(options => (options.Id, options.Peers) = (7, [other.PublisherEndpoint, "tcp://127.0.0.1:1"]));
        await fixture.Connect(registry, "x").AskAsync(Register("s", "e", 2));
        await fixture.Connect(other, "y").AskAsync(Register("s", "f", 2, kind: 2));
        await Guard.UntilAsync(() => registry.GetSnapshot().Entries.Count == 2, "the peer's entry comes");
        clock.Advance(TimeSpan.FromMilliseconds(900)); // Less than what the registry takes for a pause of its own.
        string text = registry.Describe();
        Assert.Contains("registry 7: publisher tcp://127.0.0.1:", text, StringComparison.Ordinal);
        Assert.Contains("2 entries, 1 of them own", text, StringComparison.Ordinal);
        Assert.Contains("Receiver s at e, id x, weight 2, own, registered 0.9 s ago, last heartbeat 0.9 s ago", text,
            StringComparison.Ordinal);
        Assert.Contains("SpotNode s at f, id y, weight 2, of registry 8", text, StringComparison.Ordinal);
        Assert.Contains($"peer {other.PublisherEndpoint}: connected, registry 8, list 1", text, StringComparison.Ordinal);
        Assert.Contains("peer tcp://127.0.0.1:1: not connected, no list yet", text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_instruments_show_entries_and_requests_and_counters_outlast_the_registry()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start();
        var values = new Dictionary<string, long>(StringComparer.Ordinal);
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, self) =>
        {
            if (instrument.Name.StartsWith("zlink.registry", StringComparison.Ordinal)
                && ReferenceEquals(instrument.Meter.Scope, fixture.Context))
            {
                self.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>(
            (instrument, value, tags, _) => values[tags.Length == 1 ? instrument.Name : $"{instrument.Name} {tags[^1].Value}"] = value);
        listener.Start();
        Support.RegistryClient client = fixture.Connect(registry, "x");
        await client.AskAsync(Register("s", "e"));
        await client.AskAsync(Register("", "e"));
        listener.RecordObservableInstruments();
        Assert.Equal((1, 0, 2, 1, 1), (values["zlink.registry.entries own"], values["zlink.registry.entries learned"],
            values["zlink.registry.requests"], values["zlink.registry.refused"], values["zlink.registry.malformed"]));
        await registry.DisposeAsync().Guarded();
        values.Clear();
        listener.RecordObservableInstruments();
        Assert.Equal(2, values["zlink.registry.requests"]);
        Assert.DoesNotContain("zlink.registry.entries own", values.Keys, StringComparer.Ordinal);
    }
}
