namespace Net.Zlink.Services.Tests.Clusters;

/// <summary>A registry by the rules of the native one, its merge with its defects included, written down from its description.</summary>
internal sealed class NativeNode(uint id) : ClusterNode
{
    private readonly SortedDictionary<string, (uint Weight, uint Owner, TimeSpan LastSign)> _entries = new(StringComparer.Ordinal);
    private readonly Dictionary<uint, (ulong Sequence, TimeSpan LastHeard)> _peers = [];
    private ulong _sequence;
    private ulong _sent;
    private TimeSpan _lastSent;

    public override IReadOnlySet<string> Own => Show(entry => entry.Owner == id);

    public override IReadOnlySet<string> Listed => Show(static _ => true);

    public override void Register(TimeSpan now, string key, uint weight)
    {
        _entries[key] = (weight, id, now);
        _sequence++;
    }

    public override void Unregister(TimeSpan now, string key)
    {
        if (_entries.TryGetValue(key, out var entry) && entry.Owner == id)
        {
            _entries.Remove(key);
            _sequence++;
        }
    }

    public override void Heartbeat(TimeSpan now, string key)
    {
        if (_entries.TryGetValue(key, out var entry))
        {
            _entries[key] = entry with { LastSign = now };
        }
    }

    public override IReadOnlyList<SentList> Tick(TimeSpan now)
    {
        uint[] silent = [.. _peers.Where(peer => now - peer.Value.LastHeard > Cluster.BroadcastInterval * 3)
            .Select(static peer => peer.Key)];
        int removed = _entries.Where(entry => entry.Value.Owner == id ? now - entry.Value.LastSign > Cluster.HeartbeatTimeout
            : silent.Contains(entry.Value.Owner))
            .Select(static entry => entry.Key).ToArray().Count(_entries.Remove);
        Array.ForEach(silent, peer => _peers.Remove(peer));
        _sequence += removed > 0 ? 1UL : 0;
        if (_sequence == _sent && now - _lastSent < Cluster.BroadcastInterval)
        {
            return [];
        }

        ChangedLists += _sequence != _sent ? 1 : 0;
        (_sent, _lastSent) = (_sequence, now);
        return Greeting();
    }

    public override IReadOnlyList<SentList> Greeting()
    {
        ListedService[] services =
        [
            .. _entries.GroupBy(static entry => KeyOf(entry.Key).Service)
                .Select(static group => new ListedService(
                    group.Key, [.. group.Select(static entry =>
                    new ListedInstance(KeyOf(entry.Key).Endpoint, default, entry.Value.Weight))])),
        ];
        return [new SentList(new ServiceListHeader(MessageIds.ServiceList, id, _sequence, (uint)services.Length), services)];
    }

    public override object Connected(int peer) => this;

    public override void Disconnected(TimeSpan now, object connection)
    {
    }

    public override void Take(TimeSpan now, object connection, SentList list)
    {
        uint peer = list.Header.RegistryId;
        bool isKnown = _peers.TryGetValue(peer, out var known);
        if (peer == id || (isKnown && list.Header.Sequence <= known.Sequence))
        {
            _peers[peer] = (known.Sequence, now);
            return;
        }

        _peers[peer] = (list.Header.Sequence, now);
        var parsed = list.Services.SelectMany(static service =>
            service.Instances.Select(instance => (Key: $"{service.Key.Name}{instance.Endpoint}", instance.Weight)))
            .ToDictionary(static one => one.Key, static one => one.Weight, StringComparer.Ordinal);
        bool isSame = _entries.All(entry => entry.Value.Owner != peer
            || (parsed.TryGetValue(entry.Key, out uint weight) && weight == entry.Value.Weight))
            && parsed.All(one => _entries.ContainsKey(one.Key));
        if (isSame)
        {
            return;
        }

        foreach (string key in _entries.Where(entry => entry.Value.Owner == peer).Select(static entry => entry.Key).ToArray())
        {
            _entries.Remove(key);
        }

        foreach ((string key, uint weight) in parsed)
        {
            _entries.TryAdd(key, (weight, peer, now));
        }

        _sequence++;
    }

    private HashSet<string> Show(Func<(uint Weight, uint Owner, TimeSpan LastSign), bool> which) =>
        _entries.Where(entry => which(entry.Value)).Select(static entry => $"{entry.Key} {entry.Value.Weight}")
            .ToHashSet(StringComparer.Ordinal);
}
