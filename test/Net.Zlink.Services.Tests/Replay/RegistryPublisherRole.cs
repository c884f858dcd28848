using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests.Replay;

/// <summary>The registry's XPUB: sends each recorded list when what it shows was done, which is what makes the difference to the list
/// before it.</summary>
/// <param name="expires">Whether entries that a list has no longer expired; else they were unregistered.</param>
internal sealed class RegistryPublisherRole(bool expires) : Role
{
    private static readonly TimeSpan HeartbeatTimeout = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan BroadcastInterval = TimeSpan.FromSeconds(20);

    public override string Name => expires ? "registry, publisher, entries expire" : "registry, publisher";

    public override bool Plays(ServiceTranscript transcript) =>
        (transcript.TypeOfA, transcript.TypeOfB) == (SocketKind.Sub, SocketKind.XPub)
            && (!expires || Changes(transcript).Any(static change => change.Before.Except(change.After, Entry.ByKey).Any()));

    public override async Task PlayAsync(ServiceTranscript transcript)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        TranscriptRecord[] lists = Lists(transcript);
        ServiceListHeader first = Header(lists[0]);
        Entry[] present = Entry.Of(lists[0]);
        ServiceRegistry registry = fixture.Start(options =>
        {
            options.Id = first.RegistryId;
            options.InitialSequence = first.Sequence - (ulong)present.Length;
            options.HeartbeatTimeout = expires ? HeartbeatTimeout : TimeSpan.FromHours(1);
            options.BroadcastInterval = BroadcastInterval;
            options.PublisherSocket.RoutingId = transcript.IdOfB;
        });
        var clients = new Clients(fixture, registry);
        foreach (Entry entry in present)
        {
            await clients.RegisterAsync(entry);
        }

        using RawPeer raw = await RawPeer.ConnectAsync(registry.PublisherEndpoint);
        var connection = new PlayedConnection(raw, $"{transcript.File}, {Name}");
        await connection.ShakeHandsAsync(transcript, oursIsA: false);
        foreach (TranscriptRecord record in transcript.Data.Where(static record => record.FromA))
        {
            await connection.SendAsync(record);
        }

        await connection.ExpectAsync(lists[0]);
        var removed = new HashSet<(string Service, string Endpoint)>();
        foreach ((TranscriptRecord before, TranscriptRecord after) in lists.Zip(lists.Skip(1)))
        {
            Entry[] remaining = Entry.Of(after);
            if (Header(after).Sequence == Header(before).Sequence)
            {
                Assert.Equal(Entry.Of(before), remaining);
                await fixture.AdvanceAsync(clock, BroadcastInterval);
            }
            else
            {
                await ChangeAsync(clients, fixture, clock, Entry.Of(before), remaining,
                    (int)(Header(after).Sequence - Header(before).Sequence));
            }

            Entry[] gone = expires ? [] : [.. Entry.Of(before).Except(remaining, Entry.ByKey)];
            removed.UnionWith(gone.Select(static entry => (entry.Service, entry.Endpoint)));
            removed.ExceptWith(remaining.Select(static entry => (entry.Service, entry.Endpoint)));
            connection.Same(after, WithoutRemovals(await connection.ReadAsync(fromA: false), removed, atLeast: gone.Length));
        }
    }

    /// <summary>Behind what the native registry sends, ours names for a while what was unregistered; native readers skip it.</summary>
    private static TranscriptRecord WithoutRemovals(
        TranscriptRecord list, HashSet<(string Service, string Endpoint)> removed, int atLeast)
    {
        List<EntryKey> named = ListRemovals.Read(new Frames(list.Parts));
        Assert.InRange(named.Count, atLeast, removed.Count);
        Assert.All(named, key => Assert.Contains((key.Service.Name.ToString(), key.Endpoint.ToString()), removed));
        return named.Count == 0 ? list : TranscriptRecord.Parse(list.FromA, RegistryRouterRole.Frames(list.Parts[..^1]));
    }

    private static TranscriptRecord[] Lists(ServiceTranscript transcript) => [.. transcript.Data.Where(static record => !record.FromA)];

    private static IEnumerable<(Entry[] Before, Entry[] After)> Changes(ServiceTranscript transcript)
    {
        TranscriptRecord[] lists = Lists(transcript);
        return lists.Zip(lists.Skip(1), static (before, after) => (Entry.Of(before), Entry.Of(after)));
    }

    private static ServiceListHeader Header(TranscriptRecord list)
    {
        Assert.True(ServiceListHeader.TryRead(new Frames(list.Parts), out ServiceListHeader header));
        return header;
    }

    private async Task ChangeAsync(Clients clients, RegistryFixture fixture, ManualTimeProvider clock, Entry[] before, Entry[] after,
        int steps)
    {
        Entry[] set = [.. after.Except(before)];
        Entry[] gone = [.. before.Except(after, Entry.ByKey)];
        Assert.Equal(steps, set.Length + gone.Length); // One change, one number: joined changes cannot be told apart.
        foreach (Entry entry in set)
        {
            Entry? old = before.FirstOrDefault(other => Entry.ByKey.Equals(other, entry));
            await (old is { } known && string.Equals(known.RoutingId, entry.RoutingId, StringComparison.Ordinal)
                ? clients.UpdateWeightAsync(entry) : clients.RegisterAsync(entry));
        }

        foreach (Entry entry in gone.Where(_ => !expires))
        {
            await clients.UnregisterAsync(entry);
        }

        if (expires && gone.Length > 0)
        {
            for (TimeSpan time = TimeSpan.Zero; time <= HeartbeatTimeout; time += RegistryState.ShortestTick)
            {
                await clients.HeartbeatAsync(after);
                await fixture.AdvanceAsync(clock, RegistryState.ShortestTick);
            }
        }
    }

    private sealed record Entry(ushort Kind, string Service, string Endpoint, string RoutingId, uint Weight)
    {
        public static readonly IEqualityComparer<Entry> ByKey = EqualityComparer<Entry>.Create(
            static (left, right) => (left!.Kind, left.Service, left.Endpoint) == (right!.Kind, right.Service, right.Endpoint),
                static entry => HashCode.Combine(entry.Kind, entry.Service, entry.Endpoint));

        public static Entry[] Of(TranscriptRecord list) =>
            [.. from service in ServiceListReader.Read(new Frames(list.Parts), Header(list)).Values from instance in service.Instances
                select new Entry(service.Key.Kind, service.Key.Name.ToString(), instance.Endpoint.ToString(),
                    Convert.ToHexString(instance.RoutingId.Span), instance.Weight)];
    }

    /// <summary>A connection for each routing id that lists show.</summary>
    private sealed class Clients(RegistryFixture fixture, ServiceRegistry registry)
    {
        private readonly Dictionary<string, Support.RegistryClient> _clients = [];

        public async Task RegisterAsync(Entry entry) =>
            Assert.Equal($"0 {entry.Endpoint} ", await Of(entry)
            .AskAsync(Support.RegistryClient.Register(entry.Service, entry.Endpoint, entry.Weight, entry.Kind)));

        public async Task UpdateWeightAsync(Entry entry) =>
            Assert.Equal($"0 {entry.Endpoint} ", await Of(entry)
            .AskAsync(Support.RegistryClient.UpdateWeight(entry.Service, entry.Endpoint, entry.Weight, entry.Kind)));

        public Task UnregisterAsync(Entry entry) =>
            Of(entry).SendAsync(Support.RegistryClient.Unregister(entry.Service, entry.Endpoint, entry.Kind));

        public async Task HeartbeatAsync(Entry[] entries)
        {
            long expected = registry.GetSnapshot().Requests + entries.Length;
            foreach (Entry entry in entries)
            {
                await Of(entry).SendAsync(Support.RegistryClient.Heartbeat(entry.Service, entry.Endpoint, entry.Kind));
            }

            await Guard.UntilAsync(() => registry.GetSnapshot().Requests >= expected, "the registry reads the heartbeats");
        }

        private Support.RegistryClient Of(Entry entry)
        {
            if (!_clients.TryGetValue(entry.RoutingId, out Support.RegistryClient? client))
            {
                _clients.Add(entry.RoutingId, client = fixture.Connect(registry.RouterEndpoint, Convert.FromHexString(entry.RoutingId)));
            }

            return client;
        }
    }
}
