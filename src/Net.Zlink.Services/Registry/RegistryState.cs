namespace Net.Zlink.Services;

/// <summary>The settings that a <see cref="RegistryState"/> needs. <paramref name="Start"/> is <see cref="TimeSpan.Zero"/> on the
/// calendar.</summary>
internal sealed record RegistrySettings(
    uint Id, TimeSpan HeartbeatTimeout, TimeSpan PeerTimeout, int MaxEntries = int.MaxValue, DateTimeOffset Start = default)
{
    /// <summary>How often <see cref="RegistryState.Tick"/> is expected.</summary>
    public TimeSpan TickInterval { get; init; } = RegistryState.ShortestTick;
}

/// <summary>
/// Everything a registry knows and decides, without sockets and without a clock: each call gets the time since the start. Acks are
/// returned, events collected, and <see cref="Sequence"/> grows with whatever has to be listed. Not thread-safe.
/// </summary>
internal sealed partial class RegistryState(RegistrySettings settings, ulong sequence)
{
    public static readonly TimeSpan ShortestTick = TimeSpan.FromMilliseconds(100);

    // With 100 ms for all, a registry at rest took 0.6 % of a processor. A pause of its process is noticed from here on.
    public static readonly TimeSpan LongestTick = TimeSpan.FromSeconds(1);

    // A later tick means that the registry itself did not run, so it could not receive heartbeats meanwhile.
    private static readonly TimeSpan LateTick = TimeSpan.FromSeconds(1);

    private readonly Dictionary<EntryKey, TableEntry> _own = [];
    private readonly MergedTable _table = new();
    private readonly List<PeerView> _views = [];
    private readonly List<RegistryEvent> _events = [];
    private readonly RecentRemovals _removals = new();
    private TimeSpan _lastTick;
    private int _fullAt;
    private long _requests;
    private long _refused;
    private long _malformed;
    private long _expired;
    private long _peerLists;

    public uint Id => settings.Id;

    public ulong Sequence { get; private set; } = sequence;

    public int OwnCount => _own.Count;

    /// <summary>All entries, for a SERVICE_LIST. The array is not changed afterwards.</summary>
    public ListedService[] All => _table.All;

    /// <summary>Own entries alone, for a REGISTRY_SYNC. The array is not changed afterwards.</summary>
    public ListedService[] Own => _table.Own;

    /// <summary>Of a list of all entries.</summary>
    public long ByteCount => _table.ByteCount;

    /// <summary>From the oldest connection to the newest.</summary>
    public IReadOnlyList<PeerView> Views => _views;

    /// <summary>A tenth of the shortest time that ticks measure: an entry that has expired stays for so much longer at most.</summary>
    public static TimeSpan TickFor(TimeSpan heartbeatTimeout, TimeSpan peerTimeout, TimeSpan broadcastInterval)
    {
        TimeSpan tenth = TimeSpan.FromTicks(Math.Min(heartbeatTimeout.Ticks, Math.Min(peerTimeout.Ticks, broadcastInterval.Ticks)) / 10);
        return tenth < ShortestTick ? ShortestTick : tenth > LongestTick ? LongestTick : tenth;
    }

    /// <summary>The frame that names what has left by word; empty for none, and where the list is so long that followers might not have
    /// space for it.</summary>
    public byte[] RemovalsAt(TimeSpan now) =>
        _removals.FrameAt(now) is { } frame && ByteCount + frame.Length <= ListLimits.MaxBytes ? frame : [];

    /// <summary>A list with a new number but no change: native peers then reconsider entries that they refused.</summary>
    public void RenumberList() => Sequence++;

    public RegistryEvent[] DequeueEvents()
    {
        RegistryEvent[] events = [.. _events];
        _events.Clear();
        return events;
    }

    public bool Remove(TimeSpan now, in EntryKey key)
    {
        if (!_own.Remove(key, out TableEntry? entry))
        {
            return false;
        }

        Report(RegistryEventType.Unregistered, now, Id, key, entry.Instance);
        _removals.Add(now, key);
        Excluded(now, key);
        Sequence++;
        return true;
    }

    /// <summary>
    /// Removes what is out of date. To be called each <see cref="RegistrySettings.TickInterval"/>, behind the requests that had come by
    /// then. Views that are not connected have ended; null: no other than before.
    /// </summary>
    public void Tick(TimeSpan now, PeerView[]? connected = null)
    {
        foreach (PeerView view in connected is null ? [] : _views.Except(connected))
        {
            ConnectionLost(now, view);
        }

        TimeSpan late = now - _lastTick - settings.TickInterval;
        _lastTick = now;
        if (late > LateTick)
        {
            Postpone(now, late);
        }

        Expire(now);
        MergeLeftOut(now);
        foreach (PeerView view in _views.ToArray())
        {
            if (now - view.LastHeard > settings.PeerTimeout)
            {
                RemoveView(now, view, $"silent for {now - view.LastHeard}");
            }
            else if (view.LostAt is { } lost && now - lost > settings.HeartbeatTimeout)
            {
                RemoveView(now, view, $"not connected for {now - lost}");
            }
            else if (view.EndExclusions(now, isNewList: false) is { Count: > 0 } ended)
            {
                Merge(now, ended);
            }
        }
    }

    /// <summary>The state as text; what only sockets know is given.</summary>
    public RegistrySnapshot GetSnapshot(IReadOnlyList<RegistryView> peers, RegistryConnections connections, long listsSent) => new()
    {
        Id = Id,
        Sequence = Sequence,
        Entries =
        [
            .. from entry in _table.Entries
               let isOwn = entry.Owner is null
               select new RegistryEntry((ServiceKind)entry.Key.Service.Kind, Instance(entry.Key, entry.Instance))
               {
                   OwnerId = entry.Owner?.RegistryId ?? Id,
                   RegisteredAt = isOwn ? At(entry.RegisteredAt) : null,
                   LastHeartbeatAt = entry.Registrants is { Count: > 0 } own ? At(own.LastSign) : null,
               },
        ],
        OwnEntries = OwnCount,
        Peers = peers,
        Subscribers = connections.Subscribers,
        Clients = connections.Clients,
        UndecidedClients = connections.UndecidedClients,
        Requests = _requests,
        RefusedRequests = _refused,
        MalformedMessages = _malformed,
        ExpiredEntries = _expired,
        ListsSent = listsSent,
        PeerLists = _peerLists,
    };

    private DateTimeOffset At(TimeSpan time) => settings.Start + time;

    private void Expire(TimeSpan now)
    {
        TimeSpan before = now - settings.HeartbeatTimeout;
        ulong sequenceBefore = Sequence;
        foreach ((EntryKey key, TableEntry entry) in _own)
        {
            TimeSpan lastSign = entry.Registrants!.LastSign;
            entry.Registrants.Expire(before);
            if (entry.Registrants.Count > 0)
            {
                ListNewest(now, entry);
                continue;
            }

            _own.Remove(key); // A dictionary may be removed from while it is enumerated.
            Report(RegistryEventType.Expired, now, Id, key, entry.Instance, $"no heartbeat for {now - lastSign}");
            Excluded(now, key);
            _expired++;
            Sequence++;
        }

        Sequence = Math.Min(Sequence, sequenceBefore + 1); // One list for all.
    }

    /// <summary>The registry did not run for a while: everybody gets that time in addition.</summary>
    private void Postpone(TimeSpan now, TimeSpan late)
    {
        foreach (TableEntry entry in _own.Values)
        {
            entry.Registrants!.Postpone(now, late);
        }

        foreach (PeerView view in _views)
        {
            view.LastHeard = Earlier(now, view.LastHeard + late);
            view.LostAt = view.LostAt is { } lost ? Earlier(now, lost + late) : null;
        }
    }

    private void Report(RegistryEventType type, TimeSpan now, uint registry, string text) =>
        _events.Add(new RegistryEvent { Type = type, At = At(now), RegistryId = registry, Text = text });

    private void Report(RegistryEventType type, TimeSpan now, uint registry, in EntryKey key, ListedInstance instance, string text = "") =>
        _events.Add(new RegistryEvent
        {
            Type = type,
            At = At(now),
            RegistryId = registry,
            Kind = (ServiceKind)key.Service.Kind,
            Instance = Instance(key, instance),
            Text = text,
        });

    private static ServiceInstance Instance(in EntryKey key, ListedInstance listed) =>
        new(key.Service.Name.ToString(), key.Endpoint.ToString()) { RoutingId = listed.RoutingId, Weight = listed.Weight };

    private static TimeSpan Earlier(TimeSpan one, TimeSpan other) => one < other ? one : other;
}
