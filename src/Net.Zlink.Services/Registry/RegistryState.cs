namespace Net.Zlink.Services;

/// <summary>The settings that a <see cref="RegistryState"/> needs.</summary>
internal sealed record RegistrySettings
{
    public required uint Id { get; init; }

    public required TimeSpan HeartbeatTimeout { get; init; }

    public required TimeSpan PeerTimeout { get; init; }

    public int MaxEntries { get; init; } = int.MaxValue;

    /// <summary>What <see cref="TimeSpan.Zero"/> is on the calendar.</summary>
    public DateTimeOffset Start { get; init; }
}

/// <summary>
/// Everything a registry knows and decides, without sockets and without a clock: each call gets the time since the start. Acks are
/// returned, events collected, and <see cref="Sequence"/> grows with
/// whatever has to be listed. Not thread-safe.
/// </summary>
internal sealed class RegistryState(RegistrySettings settings, ulong sequence)
{
    /// <summary>How often <see cref="Tick"/> is expected.</summary>
    public static readonly TimeSpan TickInterval = TimeSpan.FromMilliseconds(100);

    // A tick that is later than this says that the registry itself did not run: nobody can have been heard meanwhile.
    private static readonly TimeSpan LateTick = TimeSpan.FromSeconds(1);

    private readonly Dictionary<EntryKey, OwnEntry> _own = [];
    private readonly MergedTable _merged = new();
    private readonly List<PeerView> _views = [];
    private readonly List<RegistryEvent> _events = [];
    private TimeSpan _lastTick;

    public uint Id => settings.Id;

    /// <summary>The number of the present list.</summary>
    public ulong Sequence { get; private set; } = sequence;

    public int OwnCount => _own.Count;

    public int Count => _merged.Count;

    public long Expired { get; private set; }

    /// <summary>All entries, for a SERVICE_LIST. The array is not changed afterwards.</summary>
    public ListedService[] All => _merged.All;

    /// <summary>Own entries alone, for a REGISTRY_SYNC. The array is not changed afterwards.</summary>
    public ListedService[] Own => _merged.Own;

    /// <summary>From the oldest connection to the newest.</summary>
    public IReadOnlyList<PeerView> Views => _views;

    /// <summary>A list that has a new number although nothing changed: peers of the native kind look again at what they refused.</summary>
    public void RenumberList() => Sequence++;

    /// <summary>Takes the events since the last call.</summary>
    public RegistryEvent[] DequeueEvents()
    {
        if (_events.Count == 0)
        {
            return [];
        }

        RegistryEvent[] events = [.. _events];
        _events.Clear();
        return events;
    }

    /// <summary>Deals with a request.</summary>
    /// <param name="now">The time since the start.</param>
    /// <param name="request">The request.</param>
    /// <param name="sender">The routing id of its connection; copied where it is kept.</param>
    /// <param name="refusal">For REGISTER: why it is not admitted; null if it is.</param>
    /// <returns>The answer; null where there is none.</returns>
    public RegistryAck? Handle(TimeSpan now, in RegistryRequest request, RoutingId sender, string? refusal = null)
    {
        if (request.Fault is { } fault)
        {
            return fault;
        }

        switch (request.Id)
        {
            case MessageIds.Register:
                return Register(now, request, sender, refusal);
            case MessageIds.UpdateWeight:
                return UpdateWeight(now, request);
            case MessageIds.Heartbeat when _own.TryGetValue(request.Entry, out OwnEntry? entry):
                entry.LastSign = now;
                return null;
            case MessageIds.Unregister:
                Remove(now, request.Entry);
                return null;
            default:
                return null;
        }
    }

    /// <summary>Removes an own entry.</summary>
    /// <returns>False: there is none.</returns>
    public bool Remove(TimeSpan now, in EntryKey key)
    {
        if (!_own.Remove(key, out OwnEntry? entry))
        {
            return false;
        }

        Report(RegistryEventType.Unregistered, now, Id, key, entry.Instance);
        Excluded(now, key);
        Sequence++;
        return true;
    }

    /// <summary>Looks at the header of a peer's list.</summary>
    /// <param name="now">The time since the start.</param>
    /// <param name="view">What its connection has brought so far.</param>
    /// <param name="header">The header.</param>
    /// <param name="isOwnSocket">Whether this registry is connected to itself.</param>
    /// <returns>Whether the list is to be parsed and given to <see cref="TakeList"/>.</returns>
    public bool WantsList(TimeSpan now, PeerView view, in ServiceListHeader header, bool isOwnSocket = false)
    {
        if (header.RegistryId == Id)
        {
            if (!isOwnSocket && !view.HasReportedConflict)
            {
                view.HasReportedConflict = true;
                _events.Add(new RegistryEvent(RegistryEventType.IdConflict, At(now), Id,
                    Text: $"the registry at {view.RemoteAddress} has the same number {Id}"));
            }

            return false;
        }

        if (view.IsReplaced)
        {
            return false;
        }

        view.LastHeard = now;
        bool isNew = view.Sequence is null || header.RegistryId != view.RegistryId;
        return isNew || (header.Sequence > view.Sequence && (header.MessageId == MessageIds.RegistrySync || !view.SendsOwnEntries));
    }

    /// <summary>Takes a list that <see cref="WantsList"/> wanted.</summary>
    /// <param name="now">The time since the start.</param>
    /// <param name="view">What its connection has brought so far.</param>
    /// <param name="header">The header.</param>
    /// <param name="services">Its services.</param>
    public void TakeList(TimeSpan now, PeerView view, in ServiceListHeader header, SortedDictionary<ServiceKey, ListedService> services)
    {
        var touched = new HashSet<EntryKey>();
        if (!_views.Contains(view))
        {
            _views.Add(view);
            uint id = header.RegistryId;
            bool IsOlder(PeerView other) => other != view && (other.RegistryId == id || other.IsAt(view.RemoteAddress));
            foreach (PeerView older in _views.Where(IsOlder).ToArray())
            {
                _views.Remove(older);
                older.IsReplaced = true;
                Collect(touched, older.Services, services);
            }

            _events.Add(new RegistryEvent(RegistryEventType.PeerUp, At(now), id, Text: view.RemoteAddress));
        }

        if (view.RegistryId != header.RegistryId)
        {
            view.SendsOwnEntries = false;
        }

        view.RegistryId = header.RegistryId;
        view.Sequence = header.Sequence;
        view.SendsOwnEntries |= header.MessageId == MessageIds.RegistrySync;
        Collect(touched, view.Services, services);
        view.Services = services;
        touched.UnionWith(view.EndExclusions(now, isNewList: true));
        Merge(now, touched);
    }

    /// <summary>The connection of a view has ended; what it brought stays for a while.</summary>
    public static void ConnectionLost(TimeSpan now, PeerView view) => view.LostAt ??= now;

    /// <summary>A peer is no longer one.</summary>
    public void RemoveView(TimeSpan now, PeerView view, string why)
    {
        if (_views.Remove(view))
        {
            _events.Add(new RegistryEvent(RegistryEventType.PeerDown, At(now), view.RegistryId, Text: $"{view.RemoteAddress}: {why}"));
            var touched = new HashSet<EntryKey>();
            Collect(touched, view.Services, new SortedDictionary<ServiceKey, ListedService>());
            Merge(now, touched);
            view.Sequence = null;
            view.Services = [];
        }
    }

    /// <summary>
    /// Removes what is out of date. To be called each <see cref="TickInterval"/>, behind the requests that had come by then.
    /// </summary>
    public void Tick(TimeSpan now)
    {
        TimeSpan late = now - _lastTick - TickInterval;
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

    /// <summary>All entries, for people.</summary>
    public RegistryEntry[] GetEntries() =>
    [
        .. from entry in _merged.Entries
           let own = entry.Owner is null ? _own[entry.Key] : null
           select new RegistryEntry((ServiceKind)entry.Key.Service.Kind, Instance(entry.Key, entry.Instance),
               entry.Owner?.RegistryId ?? Id, own is null ? null : At(own.RegisteredAt), own is null ? null : At(own.LastSign)),
    ];

    /// <summary>A time as people read it.</summary>
    public DateTimeOffset At(TimeSpan time) => settings.Start + time;

    private RegistryAck Register(TimeSpan now, in RegistryRequest request, RoutingId sender, string? refusal)
    {
        bool isThere = _own.TryGetValue(request.Entry, out OwnEntry? entry);
        RegistryAck? refused = refusal is not null ? new RegistryAck(AckStatus.Refused, refusal)
            : !isThere && _own.Count >= settings.MaxEntries ? RegistryAck.RegistryFull
            : null;
        if (refused is { } ack)
        {
            var asked = new ListedInstance(request.Entry.Endpoint, sender.Copy(), request.Weight);
            Report(RegistryEventType.Refused, now, Id, request.Entry, asked, ack.Error);
            return ack;
        }

        Sequence++; // Also for an identical repeat, as natively.
        if (entry is null)
        {
            entry = new OwnEntry(new ListedInstance(request.Entry.Endpoint, sender.Copy(), request.Weight), now);
            _own.Add(request.Entry, entry);
            _merged.Set(request.Entry, entry.Instance, owner: null);
            Report(RegistryEventType.Registered, now, Id, request.Entry, entry.Instance);
            return RegistryAck.Done;
        }

        entry.LastSign = now;
        if (entry.Instance.RoutingId != sender || entry.Instance.Weight != request.Weight)
        {
            Change(now, request.Entry, entry, new ListedInstance(request.Entry.Endpoint, sender.Copy(), request.Weight));
        }

        return RegistryAck.Done;
    }

    private RegistryAck UpdateWeight(TimeSpan now, in RegistryRequest request)
    {
        if (!_own.TryGetValue(request.Entry, out OwnEntry? entry))
        {
            return !_merged.HasService(request.Entry.Service) ? RegistryAck.ServiceNotFound
                : _merged.TryGet(request.Entry, out _, out _) ? RegistryAck.ProviderNotLocal
                : RegistryAck.ProviderNotFound;
        }

        Sequence++;
        entry.LastSign = now; // Natively only REGISTER and HEARTBEAT are signs of life; a request that was answered is one, too.
        if (entry.Instance.Weight != request.Weight)
        {
            Change(now, request.Entry, entry, entry.Instance with { Weight = request.Weight });
        }

        return RegistryAck.Done;
    }

    private void Change(TimeSpan now, in EntryKey key, OwnEntry entry, ListedInstance instance)
    {
        entry.Instance = instance;
        _merged.Set(key, instance, owner: null);
        Report(RegistryEventType.Updated, now, Id, key, instance);
    }

    private void Expire(TimeSpan now)
    {
        bool any = false;
        foreach ((EntryKey key, OwnEntry entry) in _own)
        {
            if (now - entry.LastSign > settings.HeartbeatTimeout)
            {
                _own.Remove(key); // A dictionary may be removed from while it is enumerated.
                Report(RegistryEventType.Expired, now, Id, key, entry.Instance, $"no heartbeat for {now - entry.LastSign}");
                Excluded(now, key);
                Expired++;
                any = true;
            }
        }

        Sequence += any ? 1UL : 0;
    }

    /// <summary>The registry did not run for a while: everybody gets that time in addition.</summary>
    private void Postpone(TimeSpan now, TimeSpan late)
    {
        foreach (OwnEntry entry in _own.Values)
        {
            entry.LastSign = Earlier(now, entry.LastSign + late);
        }

        foreach (PeerView view in _views)
        {
            view.LastHeard = Earlier(now, view.LastHeard + late);
            view.LostAt = view.LostAt is { } lost ? Earlier(now, lost + late) : null;
        }
    }

    /// <summary>An own entry has gone: only a peer that has it as its own may still list it.</summary>
    private void Excluded(TimeSpan now, in EntryKey key)
    {
        foreach (PeerView view in _views)
        {
            view.Exclude(key, now + settings.PeerTimeout);
        }

        Merge(key, now);
    }

    private void Merge(TimeSpan now, IEnumerable<EntryKey> keys)
    {
        bool any = false;
        foreach (EntryKey key in keys)
        {
            any |= Merge(key, now);
        }

        Sequence += any ? 1UL : 0;
    }

    /// <summary>Decides an entry anew: own, else of the view that had it and still has it, else of the oldest view that has it.</summary>
    /// <returns>Whether the list changes.</returns>
    private bool Merge(in EntryKey key, TimeSpan now)
    {
        bool was = _merged.TryGet(key, out ListedInstance before, out PeerView? formerOwner);
        PeerView? owner = formerOwner;
        if (_own.ContainsKey(key))
        {
            return false; // What is own is set where it changes.
        }

        ListedInstance? after = null;
        if (owner is not null && _views.Contains(owner) && owner.TryGet(key, out ListedInstance kept))
        {
            after = kept;
        }
        else
        {
            owner = null;
            foreach (PeerView view in _views)
            {
                if (view.TryGet(key, out ListedInstance found))
                {
                    (after, owner) = (found, view);
                    break;
                }
            }
        }

        if (after is not null)
        {
            bool isChanged = !was || before != after;
            _merged.Set(key, after, owner);
            if (isChanged || formerOwner is null)
            {
                Report(formerOwner is null ? RegistryEventType.Learned : RegistryEventType.Updated, now, owner!.RegistryId, key, after);
            }

            return isChanged;
        }

        if (was)
        {
            _merged.Remove(key);
            if (formerOwner is not null)
            {
                Report(RegistryEventType.Lost, now, formerOwner.RegistryId, key, before);
            }
        }

        return was;
    }

    private void Report(RegistryEventType type, TimeSpan now, uint registry, in EntryKey key, ListedInstance instance, string text = "") =>
        _events.Add(new RegistryEvent(type, At(now), registry, (ServiceKind)key.Service.Kind, Instance(key, instance), text));

    private static ServiceInstance Instance(in EntryKey key, ListedInstance listed) =>
        new(key.Service.Name.ToString(), key.Endpoint.ToString(), listed.RoutingId, listed.Weight);

    private static TimeSpan Earlier(TimeSpan one, TimeSpan other) => one < other ? one : other;

    /// <summary>The entries of services that differ: unchanged services are the same objects.</summary>
    private static void Collect(HashSet<EntryKey> touched, SortedDictionary<ServiceKey, ListedService> before,
        SortedDictionary<ServiceKey, ListedService> after)
    {
        foreach ((ServiceKey key, ListedService service) in before)
        {
            if (!after.TryGetValue(key, out ListedService? other) || !ReferenceEquals(service, other))
            {
                AddAll(touched, service);
            }
        }

        foreach ((ServiceKey key, ListedService service) in after)
        {
            if (!before.TryGetValue(key, out ListedService? other) || !ReferenceEquals(service, other))
            {
                AddAll(touched, service);
            }
        }
    }

    private static void AddAll(HashSet<EntryKey> touched, ListedService service)
    {
        foreach (ListedInstance instance in service.Instances)
        {
            touched.Add(new EntryKey(service.Key, instance.Endpoint));
        }
    }
}
