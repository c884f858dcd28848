using System.Collections.Concurrent;
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

    /// <summary>When its first list came: from then on receivers may have registered there.</summary>
    public TimeSpan LiveSince { get; set; }

    public TimeSpan? EndedAt { get; set; }

    public SortedDictionary<ServiceKey, ListedService> Services { get; set; } = [];

    /// <summary>What its last list says to have left by word.</summary>
    public HashSet<EntryKey> Removed { get; set; } = [];

    /// <summary>When each service became what it is here: where two views differ on one endpoint, the younger one counts.</summary>
    public Dictionary<ServiceKey, long> ChangedAt { get; } = [];
}

/// <summary>The views of all registries and their union. Knows no sockets; times are since any fixed moment. Not thread-safe but for
/// <see cref="Services"/> and <see cref="IsRemoved"/>.</summary>
/// <remarks>What no connected registry lists goes only while one is connected at which it could have been registered: one that has been
/// there, without a break, for the time that its receivers get after a restart.</remarks>
internal sealed class ViewStore(ServiceKind kind, TimeSpan staleViewTimeout, TimeSpan restartTimeout)
{
    // A registry that begins its sequence at the clock jumps by more than this when it is restarted; no registry has so many changes
    // between two lists.
    private const ulong RestartJump = 1 << 20;

    // Of all registries; each names 1,000 at most.
    private const int MaxRemovals = 10_000;

    private readonly List<ConnectionView> _views = [];
    private readonly Dictionary<EntryKey, Remembered> _remembered = [];
    private readonly ConcurrentDictionary<EntryKey, TimeSpan> _removedUntil = [];
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
            return LiveSince is not { } live ? null
                : _views.Where(static view => view.EndedAt is not null).Select(view => StaleAt(view, live))
                    .Concat(_remembered.Values.Select(remembered => (TimeSpan?)ForgottenAt(remembered, live))).Min();
        }
    }

    /// <summary>Of the registry that has been connected for longest; null: none is.</summary>
    private TimeSpan? LiveSince => _views.Where(static view => view.EndedAt is null).Min(static view => (TimeSpan?)view.LiveSince);

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
        List<ServiceKey> touched = [];
        if (!view.HasList)
        {
            touched.AddRange(RemoveOlder(now, view, header, services));
            view.LiveSince = now;
            _views.Add(view);
        }
        else if (IsRestart(view, header))
        {
            Remember(now, view, services);
            view.LiveSince = now;
        }

        TakeRemovals(now, view, frames);
        foreach (ServiceKey key in services.Keys.Where(key => !ReferenceEquals(view.Services.GetValueOrDefault(key), services[key])))
        {
            view.ChangedAt[key] = _changes + 1;
            touched.Add(key);
            ForgetListed(services[key]);
        }

        foreach (ServiceKey gone in view.Services.Keys.Except(services.Keys))
        {
            view.ChangedAt.Remove(gone);
            touched.Add(gone);
        }

        view.Services = services;
        view.RegistryId = header.RegistryId;
        view.Sequence = header.Sequence;
        view.HasList = true;
        return Merge(wallClock, touched);
    }

    /// <summary>Whether a registry said a short while ago that an instance has left by word, and none has listed it anew since.</summary>
    public bool IsRemoved(TimeSpan now, string service, string endpoint) =>
        _removedUntil.TryGetValue(
            new EntryKey(new ServiceKey((ushort)kind, new ServiceText(service)), new ServiceText(endpoint)), out TimeSpan until)
        && now < until;

    /// <summary>Sets which connections are up; the views of all others have ended.</summary>
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
    public IReadOnlyCollection<string> Remove(DateTimeOffset wallClock, string endpoint) =>
        Merge(wallClock, RemoveViews(view => string.Equals(view.Endpoint, endpoint, StringComparison.Ordinal))
            .SelectMany(static view => view.Services.Keys));

    public IReadOnlyCollection<string> OnTime(TimeSpan now, DateTimeOffset wallClock)
    {
        if (LiveSince is not { } live)
        {
            return [];
        }

        List<ServiceKey> touched = [.. RemoveViews(view => StaleAt(view, live) <= now).SelectMany(static view => view.Services.Keys)];
        foreach ((EntryKey key, Remembered remembered) in _remembered)
        {
            if (ForgottenAt(remembered, live) <= now)
            {
                _remembered.Remove(key); // A dictionary may be removed from while it is enumerated.
                touched.Add(key.Service);
            }
        }

        return Merge(wallClock, touched);
    }

    private TimeSpan? StaleAt(ConnectionView ended, TimeSpan live) =>
        ended.EndedAt is { } at ? Later(at, live + restartTimeout) + staleViewTimeout : null;

    private TimeSpan ForgottenAt(Remembered remembered, TimeSpan live) => Later(remembered.Since, live) + restartTimeout;

    private List<ConnectionView> RemoveViews(Predicate<ConnectionView> which)
    {
        List<ConnectionView> removed = _views.FindAll(which);
        _views.RemoveAll(removed.Contains);
        return removed;
    }

    /// <summary>The first list of a new connection: the views of earlier connections to the same registry go.</summary>
    /// <returns>What they listed.</returns>
    private IEnumerable<ServiceKey> RemoveOlder(TimeSpan now, ConnectionView view, ServiceListHeader header,
        SortedDictionary<ServiceKey, ListedService> services)
    {
        List<ConnectionView> removed = RemoveViews(other => other.EndedAt is not null && (other.RegistryId == header.RegistryId
            || (view.Endpoint.Length > 0 && string.Equals(other.Endpoint, view.Endpoint, StringComparison.Ordinal))));
        foreach (ConnectionView older in removed.Where(older => IsRestart(older, header)))
        {
            Remember(now, older, services);
        }

        return removed.SelectMany(static older => older.Services.Keys);
    }

    private static bool IsRestart(ConnectionView older, in ServiceListHeader header) =>
        header.RegistryId != older.RegistryId || header.Sequence < older.Sequence || header.Sequence - older.Sequence >= RestartJump;

    /// <summary>A restarted registry begins without entries: its return must not be an outage.</summary>
    private void Remember(TimeSpan now, ConnectionView older, SortedDictionary<ServiceKey, ListedService> services)
    {
        foreach ((ServiceKey key, ListedService service) in older.Services)
        {
            ListedInstance[] listed = services.GetValueOrDefault(key)?.Instances ?? [];
            foreach (ListedInstance instance in service.Instances.ExceptBy(
                listed.Select(static instance => instance.Endpoint), static instance => instance.Endpoint))
            {
                _remembered[new EntryKey(key, instance.Endpoint)] = new Remembered(instance, now);
            }
        }
    }

    /// <summary>What is listed again is known from its list, and ends with it.</summary>
    private void ForgetListed(ListedService service)
    {
        foreach (ListedInstance instance in _remembered.Count == 0 && _removedUntil.IsEmpty ? [] : service.Instances)
        {
            _remembered.Remove(new EntryKey(service.Key, instance.Endpoint));
            _removedUntil.TryRemove(new EntryKey(service.Key, instance.Endpoint), out _);
        }
    }

    /// <summary>A registry repeats in its lists what was removed: each counts from the first time.</summary>
    private void TakeRemovals(TimeSpan now, ConnectionView view, in Frames frames)
    {
        foreach ((EntryKey key, TimeSpan until) in _removedUntil)
        {
            if (until <= now)
            {
                _removedUntil.TryRemove(key, out _);
            }
        }

        List<EntryKey> removed = ListRemovals.Read(frames);
        foreach (EntryKey key in removed.Where(key => key.Service.Kind == (ushort)kind && !view.Removed.Contains(key))
            .Take(MaxRemovals - _removedUntil.Count))
        {
            _removedUntil[key] = now + ListRemovals.Time;
        }

        view.Removed = [.. removed];
    }

    private HashSet<string> Merge(DateTimeOffset wallClock, IEnumerable<ServiceKey> touched)
    {
        HashSet<string> names = new(
            touched.Where(key => key.Kind == (ushort)kind).Select(static key => key.Name.ToString()), StringComparer.Ordinal);
        if (names.Count == 0)
        {
            return names;
        }

        bool IsTouched(ServiceKey key) => key.Kind == (ushort)kind && names.Contains(key.Name.ToString());
        var listed = (from view in _views
                      from service in view.Services.Values
                      where IsTouched(service.Key)
                      from instance in service.Instances
                      select (Name: service.Key.Name.ToString(), Instance: instance, ChangedAt: view.ChangedAt[service.Key]))
            .Concat(from remembered in _remembered
                    where IsTouched(remembered.Key.Service)
                    select (Name: remembered.Key.Service.Name.ToString(), remembered.Value.Instance, ChangedAt: -1L))
            .ToLookup(static one => one.Name, StringComparer.Ordinal);

        // One counter for all services and lists: a service that is gone and comes again has a greater version, and of two views the
        // younger entry is known.
        _changes++;
        ImmutableDictionary<string, ServiceSnapshot>.Builder services = _services.ToBuilder();
        foreach (string name in names)
        {
            ImmutableArray<ServiceInstance> present =
            [
                .. from one in listed[name]
                   group one by one.Instance.Endpoint into same
                   orderby same.Key
                   let instance = same.MaxBy(static one => one.ChangedAt).Instance
                   select new ServiceInstance(name, same.Key.ToString()) { RoutingId = instance.RoutingId, Weight = instance.Weight },
            ];
            if (_services.GetValueOrDefault(name)?.Instances.SequenceEqual(present) ?? present.IsEmpty)
            {
                names.Remove(name); // A set may be removed from while it is enumerated.
            }
            else if (present.IsEmpty)
            {
                services.Remove(name);
            }
            else
            {
                services[name] = new ServiceSnapshot(name, present, _changes, wallClock);
            }
        }

        Volatile.Write(ref _services, services.ToImmutable());
        return names;
    }

    private static TimeSpan Later(TimeSpan one, TimeSpan other) => one > other ? one : other;

    /// <summary>An instance that a registry listed before it was restarted.</summary>
    private sealed record Remembered(ListedInstance Instance, TimeSpan Since);
}
