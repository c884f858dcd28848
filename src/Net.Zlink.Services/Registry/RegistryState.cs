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

    // A tick that is later than this says that the registry itself did not run: nobody can have been heard meanwhile.
    private static readonly TimeSpan LateTick = TimeSpan.FromSeconds(1);

    private readonly Dictionary<EntryKey, TableEntry> _own = [];
    private readonly MergedTable _table = new();
    private readonly List<PeerView> _views = [];
    private readonly List<RegistryEvent> _events = [];
    private TimeSpan _lastTick;
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

    /// <summary>From the oldest connection to the newest.</summary>
    public IReadOnlyList<PeerView> Views => _views;

    /// <summary>A tenth of the shortest time that ticks measure: an entry that has expired stays for so much longer at most.</summary>
    public static TimeSpan TickFor(TimeSpan heartbeatTimeout, TimeSpan peerTimeout, TimeSpan broadcastInterval)
    {
        TimeSpan tenth = TimeSpan.FromTicks(Math.Min(heartbeatTimeout.Ticks, Math.Min(peerTimeout.Ticks, broadcastInterval.Ticks)) / 10);
        return tenth < ShortestTick ? ShortestTick : tenth > LongestTick ? LongestTick : tenth;
    }

    /// <summary>A list that has a new number although nothing changed: peers of the native kind look again at what they refused.</summary>
    public void RenumberList() => Sequence++;

    public RegistryEvent[] DequeueEvents()
    {
        RegistryEvent[] events = [.. _events];
        _events.Clear();
        return events;
    }

    /// <summary>Gives the answer to a request, if there is one. The refusal is that of the application.</summary>
    public RegistryAck? Handle(TimeSpan now, in RegistryRequest request, RoutingId sender, string? refusal = null)
    {
        RegistryAck? ack = request.Fault ?? request.Id switch
        {
            MessageIds.Register => Register(now, request, sender, refusal),
            MessageIds.UpdateWeight => UpdateWeight(now, request),
            _ => null,
        };
        if (request.Id == MessageIds.Heartbeat && _own.TryGetValue(request.Entry, out TableEntry? entry))
        {
            entry.LastSign = now;
        }
        else if (request.Id == MessageIds.Unregister)
        {
            Remove(now, request.Entry);
        }

        _requests++;
        _malformed += request.Id == 0 || request.Fault is not null ? 1 : 0;
        _refused += ack is { Status: not AckStatus.Done } ? 1 : 0;
        return ack;
    }

    public bool Remove(TimeSpan now, in EntryKey key)
    {
        if (!_own.Remove(key, out TableEntry? entry))
        {
            return false;
        }

        Report(RegistryEventType.Unregistered, now, Id, key, entry.Instance);
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
    public RegistrySnapshot GetSnapshot(IReadOnlyList<RegistryView> peers, int subscribers, long listsSent) => new()
    {
        Id = Id,
        Sequence = Sequence,
        Entries =
        [
            .. from entry in _table.Entries
               let isOwn = entry.Owner is null
               select new RegistryEntry((ServiceKind)entry.Key.Service.Kind, Instance(entry.Key, entry.Instance),
                   entry.Owner?.RegistryId ?? Id, isOwn ? At(entry.RegisteredAt) : null, isOwn ? At(entry.LastSign) : null),
        ],
        OwnEntries = OwnCount,
        Peers = peers,
        Subscribers = subscribers,
        Requests = _requests,
        RefusedRequests = _refused,
        MalformedMessages = _malformed,
        ExpiredEntries = _expired,
        ListsSent = listsSent,
        PeerLists = _peerLists,
    };

    private DateTimeOffset At(TimeSpan time) => settings.Start + time;

    private RegistryAck Register(TimeSpan now, in RegistryRequest request, RoutingId sender, string? refusal)
    {
        TableEntry? entry = _own.GetValueOrDefault(request.Entry);
        RegistryAck? refused = refusal is not null ? new RegistryAck(AckStatus.Refused, refusal)
            : entry is null && _own.Count >= settings.MaxEntries ? RegistryAck.RegistryFull
            : null;
        var asked = new ListedInstance(request.Entry.Endpoint, sender.Copy(), request.Weight);
        if (refused is { } ack)
        {
            Report(RegistryEventType.Refused, now, Id, request.Entry, asked, ack.Error);
            return ack;
        }

        if (entry is null)
        {
            Sequence++;
            entry = _table.Set(request.Entry, asked, owner: null);
            (entry.RegisteredAt, entry.LastSign) = (now, now);
            _own.Add(request.Entry, entry);
            Report(RegistryEventType.Registered, now, Id, request.Entry, asked);
            return RegistryAck.Done;
        }

        entry.LastSign = now;
        Change(now, entry, asked);

        return RegistryAck.Done;
    }

    private RegistryAck UpdateWeight(TimeSpan now, in RegistryRequest request)
    {
        if (!_own.TryGetValue(request.Entry, out TableEntry? entry))
        {
            return !_table.HasService(request.Entry.Service) ? RegistryAck.ServiceNotFound
                : _table.Find(request.Entry) is not null ? RegistryAck.ProviderNotLocal
                : RegistryAck.ProviderNotFound;
        }

        entry.LastSign = now; // In the native core only REGISTER and HEARTBEAT are signs of life; here an answered request is one, too.
        Change(now, entry, entry.Instance with { Weight = request.Weight });
        return RegistryAck.Done;
    }

    private void Change(TimeSpan now, TableEntry entry, ListedInstance instance)
    {
        if (entry.Instance != instance)
        {
            Sequence++; // Not for an identical repeat, unlike the native core: that is an answered heartbeat.
            _table.Set(entry.Key, instance, owner: null);
            Report(RegistryEventType.Updated, now, Id, entry.Key, instance);
        }
    }

    private void Expire(TimeSpan now)
    {
        bool any = false;
        foreach ((EntryKey key, TableEntry entry) in _own)
        {
            if (now - entry.LastSign > settings.HeartbeatTimeout)
            {
                _own.Remove(key); // A dictionary may be removed from while it is enumerated.
                Report(RegistryEventType.Expired, now, Id, key, entry.Instance, $"no heartbeat for {now - entry.LastSign}");
                Excluded(now, key);
                _expired++;
                any = true;
            }
        }

        Sequence += any ? 1UL : 0;
    }

    /// <summary>The registry did not run for a while: everybody gets that time in addition.</summary>
    private void Postpone(TimeSpan now, TimeSpan late)
    {
        foreach (TableEntry entry in _own.Values)
        {
            entry.LastSign = Earlier(now, entry.LastSign + late);
        }

        foreach (PeerView view in _views)
        {
            view.LastHeard = Earlier(now, view.LastHeard + late);
            view.LostAt = view.LostAt is { } lost ? Earlier(now, lost + late) : null;
        }
    }

    private void Report(RegistryEventType type, TimeSpan now, uint registry, string text) =>
        _events.Add(new RegistryEvent(type, At(now), registry, Text: text));

    private void Report(RegistryEventType type, TimeSpan now, uint registry, in EntryKey key, ListedInstance instance, string text = "") =>
        _events.Add(new RegistryEvent(type, At(now), registry, (ServiceKind)key.Service.Kind, Instance(key, instance), text));

    private static ServiceInstance Instance(in EntryKey key, ListedInstance listed) =>
        new(key.Service.Name.ToString(), key.Endpoint.ToString(), listed.RoutingId, listed.Weight);

    private static TimeSpan Earlier(TimeSpan one, TimeSpan other) => one < other ? one : other;
}
