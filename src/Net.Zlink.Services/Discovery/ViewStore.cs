using System.Collections.Immutable;

namespace Net.Zlink.Services;

/// <summary>The last list that came by one connection. Kept as the user state of the connection, so a new connection begins with a new view
/// and no remembered sequence.</summary>
internal sealed class ConnectionView
{
    public string Endpoint { get; set; } = "";

    public uint RegistryId { get; set; }

    public ulong Sequence { get; set; }

    public bool HasList { get; set; }

    public DateTimeOffset LastListAt { get; set; }

    /// <summary>When the connection ended; null: it is up.</summary>
    public TimeSpan? EndedAt { get; set; }

    public SortedDictionary<ServiceKey, ListedService> Services { get; set; } = [];

    /// <summary>When each service became what it is here: where two views differ on one endpoint, the younger one counts.</summary>
    public Dictionary<ServiceKey, long> ChangedAt { get; } = [];
}

/// <summary>The views of all registries and their union. Knows no sockets; times are since any fixed moment. Not thread-safe but for
/// <see cref="Services"/>.</summary>
internal sealed class ViewStore(ServiceKind kind, TimeSpan staleViewTimeout, TimeSpan restartTimeout)
{
    // A registry that begins its sequence at the clock jumps by more than this when it is restarted; no registry has so many changes
    // between two lists.
    private const ulong RestartJump = 1 << 20;

    private readonly List<ConnectionView> _views = [];
    private readonly List<Remembered> _remembered = [];
    private ImmutableDictionary<string, ServiceSnapshot> _services = ImmutableDictionary.Create<string,
        ServiceSnapshot>(StringComparer.Ordinal);
    private long _changes;

    /// <summary>The union, by the names of services; none without instances.</summary>
    public ImmutableDictionary<string, ServiceSnapshot> Services => Volatile.Read(ref _services);

    public IReadOnlyList<ConnectionView> Views => _views;

    /// <summary>Lists that brought a new state, those that were repeated or older, and those of the registries among themselves.</summary>
    public (long Accepted, long Repeated, long ForPeers, long Malformed) Lists { get; private set; }

    /// <summary>When <see cref="OnTime"/> has something to do next; null: not before another event.</summary>
    public TimeSpan? NextTime
    {
        get
        {
            TimeSpan? next = null;
            bool hasLive = _views.Exists(static view => view.EndedAt is null && view.HasList);
            foreach (TimeSpan time in _views.Where(view => view.EndedAt is not null && hasLive)
                .Select(view => view.EndedAt!.Value + staleViewTimeout)
                .Concat(_remembered.Select(static remembered => remembered.Until)))
            {
                next = next < time ? next : time;
            }

            return next;
        }
    }

    /// <summary>Takes a message of one connection.</summary>
    /// <returns>The names of the services that changed.</returns>
    public IReadOnlyCollection<string> OnList(TimeSpan now, DateTimeOffset wallClock, ConnectionView view, in Frames frames)
    {
        if (!ServiceListHeader.TryRead(frames, out ServiceListHeader header))
        {
            Lists = Lists with { Malformed = Lists.Malformed + 1 };
            return [];
        }

        if (header.MessageId != MessageIds.ServiceList)
        {
            Lists = Lists with { ForPeers = Lists.ForPeers + 1 };
            return [];
        }

        view.LastListAt = wallClock;
        if (view.HasList && header.RegistryId == view.RegistryId && header.Sequence <= view.Sequence)
        {
            Lists = Lists with { Repeated = Lists.Repeated + 1 };
            return [];
        }

        Lists = Lists with { Accepted = Lists.Accepted + 1 };
        SortedDictionary<ServiceKey, ListedService> services = ServiceListReader.Read(frames, header, view.Services);
        if (!view.HasList)
        {
            _views.Add(view);
            RemoveOlder(now, view, header, services);
        }
        else if (IsRestart(view, header))
        {
            Remember(now, view, services);
        }

        foreach ((ServiceKey key, ListedService service) in services)
        {
            if (!view.Services.TryGetValue(key, out ListedService? before) || !ReferenceEquals(before, service))
            {
                view.ChangedAt[key] = _changes + 1;
            }
        }

        foreach (ServiceKey gone in view.ChangedAt.Keys.Where(key => !services.ContainsKey(key)).ToArray())
        {
            view.ChangedAt.Remove(gone);
        }

        view.Services = services;
        view.RegistryId = header.RegistryId;
        view.Sequence = header.Sequence;
        view.HasList = true;
        return Merge(wallClock);
    }

    /// <summary>Tells which connections are up; the views of others have ended.</summary>
    public void OnConnections(TimeSpan now, IReadOnlyDictionary<ConnectionView, string> live)
    {
        foreach (ConnectionView view in _views)
        {
            if (live.TryGetValue(view, out string? endpoint))
            {
                view.Endpoint = endpoint;
            }
            else
            {
                view.EndedAt ??= now;
            }
        }
    }

    /// <summary>A registry was disconnected by the application: what it listed goes at once.</summary>
    public IReadOnlyCollection<string> Remove(DateTimeOffset wallClock, string endpoint)
    {
        _views.RemoveAll(view => string.Equals(view.Endpoint, endpoint, StringComparison.Ordinal));
        return Merge(wallClock);
    }

    /// <summary>Removes what is stale.</summary>
    public IReadOnlyCollection<string> OnTime(TimeSpan now, DateTimeOffset wallClock)
    {
        int removed = _remembered.RemoveAll(remembered => remembered.Until <= now);
        if (_views.Exists(static view => view.EndedAt is null))
        {
            removed += _views.RemoveAll(view => view.EndedAt + staleViewTimeout <= now);
        }

        return removed > 0 ? Merge(wallClock) : [];
    }

    /// <summary>The first list of a new connection: the views of earlier connections to the same registry go.</summary>
    private void RemoveOlder(TimeSpan now, ConnectionView view, in ServiceListHeader header, SortedDictionary<ServiceKey,
        ListedService> services)
    {
        uint id = header.RegistryId;
        foreach (ConnectionView older in _views.Where(other => other != view && other.EndedAt is not null
            && (other.RegistryId == id || (view.Endpoint.Length > 0
                && string.Equals(other.Endpoint, view.Endpoint, StringComparison.Ordinal)))).ToArray())
        {
            _views.Remove(older);
            if (IsRestart(older, header))
            {
                Remember(now, older, services);
            }
        }
    }

    private static bool IsRestart(ConnectionView older, in ServiceListHeader header) =>
        header.RegistryId != older.RegistryId || header.Sequence < older.Sequence || header.Sequence - older.Sequence >= RestartJump;

    /// <summary>A restarted registry begins without entries: its return must not be an outage.</summary>
    private void Remember(TimeSpan now, ConnectionView older, SortedDictionary<ServiceKey, ListedService> services)
    {
        foreach ((ServiceKey key, ListedService service) in older.Services)
        {
            ListedInstance[] listed = services.TryGetValue(key, out ListedService? listedAnew) ? listedAnew.Instances : [];
            foreach (ListedInstance instance in service.Instances.Where(
                instance => !Array.Exists(listed, other => other.Endpoint == instance.Endpoint)))
            {
                _remembered.Add(new Remembered(key, instance, now + restartTimeout));
            }
        }
    }

    private HashSet<string> Merge(DateTimeOffset wallClock)
    {
        var union = new Dictionary<string, SortedDictionary<ServiceText,
            (ListedInstance Instance, long ChangedAt)>>(StringComparer.Ordinal);
        foreach (ConnectionView view in _views)
        {
            foreach ((ServiceKey key, ListedService service) in view.Services)
            {
                foreach (ListedInstance instance in service.Instances)
                {
                    Add(union, key, instance, view.ChangedAt[key]);
                }
            }
        }

        foreach (Remembered remembered in _remembered)
        {
            Add(union, remembered.Key, remembered.Instance, changedAt: -1);
        }

        long version = _changes + 1;
        var changed = new HashSet<string>(StringComparer.Ordinal);
        ImmutableDictionary<string, ServiceSnapshot>.Builder services = _services.ToBuilder();
        foreach (string gone in _services.Keys.Where(name => !union.ContainsKey(name)))
        {
            services.Remove(gone);
            changed.Add(gone);
        }

        foreach ((string name, SortedDictionary<ServiceText, (ListedInstance Instance, long ChangedAt)> instances) in union)
        {
            ImmutableArray<ServiceInstance> present =
                [.. instances.Values.Select(listed => new ServiceInstance(
                    name, listed.Instance.Endpoint.ToString(), listed.Instance.RoutingId, listed.Instance.Weight))];
            if (!_services.TryGetValue(name, out ServiceSnapshot? before) || !before.Instances.SequenceEqual(present))
            {
                services[name] = new ServiceSnapshot(name, present, version, wallClock);
                changed.Add(name);
            }
        }

        // One counter for all services and lists: a service that is gone and comes again has a greater version, and of two views the
        // younger entry is known.
        Volatile.Write(ref _services, services.ToImmutable());
        _changes = version;
        return changed;
    }

    private void Add(Dictionary<string, SortedDictionary<ServiceText, (ListedInstance Instance, long ChangedAt)>> union, ServiceKey key,
        ListedInstance instance, long changedAt)
    {
        if (key.Kind != (ushort)kind)
        {
            return;
        }

        string name = key.Name.ToString();
        if (!union.TryGetValue(name, out SortedDictionary<ServiceText, (ListedInstance Instance, long ChangedAt)>? instances))
        {
            union.Add(name, instances = []);
        }

        if (!instances.TryGetValue(instance.Endpoint, out (ListedInstance Instance, long ChangedAt) other) || other.ChangedAt < changedAt)
        {
            instances[instance.Endpoint] = (instance, changedAt);
        }
    }

    private sealed record Remembered(ServiceKey Key, ListedInstance Instance, TimeSpan Until);
}
