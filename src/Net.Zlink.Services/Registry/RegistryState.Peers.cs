namespace Net.Zlink.Services;

/// <content>What peers bring, and how it becomes one table with what is own.</content>
internal sealed partial class RegistryState
{
    /// <summary>Reads the header of a peer's list; null if the message is not a list.</summary>
    /// <returns>Whether the list is to be parsed and given to <see cref="TakeList"/>.</returns>
    public bool WantsList(TimeSpan now, PeerView view, ServiceListHeader? given, bool isOwnSocket = false)
    {
        if (given is not { } header)
        {
            _malformed++;
            return false;
        }

        if (header.RegistryId == Id)
        {
            if (!isOwnSocket && !view.HasReportedConflict)
            {
                view.HasReportedConflict = true;
                Report(RegistryEventType.IdConflict, now, Id, $"the registry at {view.RemoteAddress} has the same number {Id}");
            }

            return false;
        }

        if (view.IsReplaced)
        {
            return false;
        }

        view.LastHeard = now;
        bool isNew = view.Sequence is null || header.RegistryId != view.RegistryId;
        bool isWanted = isNew
            || (header.Sequence > view.Sequence && (header.MessageId == MessageIds.RegistrySync || !view.SendsOwnEntries));
        _peerLists += isWanted ? 1 : 0;
        return isWanted;
    }

    /// <param name="now">The time.</param>
    /// <param name="view">Whose list it is.</param>
    /// <param name="header">Its header.</param>
    /// <param name="services">What it lists.</param>
    /// <param name="removed">What it says to have left by word; null: nothing.</param>
    public void TakeList(TimeSpan now, PeerView view, in ServiceListHeader header, SortedDictionary<ServiceKey, ListedService> services,
        List<EntryKey>? removed = null)
    {
        var touched = new HashSet<EntryKey>();
        if (!_views.Contains(view))
        {
            uint id = header.RegistryId;
            foreach (PeerView older in _views.FindAll(other => other.RegistryId == id || other.IsAt(view.RemoteAddress)))
            {
                _views.Remove(older);
                older.IsReplaced = true;
                Collect(touched, older.Services, services);
            }

            _views.Add(view);
            Report(RegistryEventType.PeerUp, now, id, view.RemoteAddress);
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
        EntryKey[] leaving = [.. (removed ?? []).Where(key => touched.Contains(key) && _table.Find(key) is not null)];
        Merge(now, touched);
        foreach (EntryKey key in leaving.Where(key => _table.Find(key) is null))
        {
            _removals.Add(now, key); // For own followers, too. A repeat changes nothing, and is not passed on.
        }
    }

    /// <summary>The connection of a view has ended; what it brought stays for a while.</summary>
    public static void ConnectionLost(TimeSpan now, PeerView view) => view.LostAt ??= now;

    public void RemoveView(TimeSpan now, PeerView view, string why)
    {
        if (_views.Remove(view))
        {
            Report(RegistryEventType.PeerDown, now, view.RegistryId, $"{view.RemoteAddress}: {why}");
            var touched = new HashSet<EntryKey>();
            Collect(touched, view.Services, []);
            Merge(now, touched);
            view.Sequence = null;
            view.Services = [];
        }
    }

    /// <summary>A peer as text; there is no view before its first message.</summary>
    public RegistryView Describe(PeerView? view, string endpoint, bool isConnected)
    {
        return view?.Sequence is not { } sequence ? new RegistryView { Endpoint = endpoint, IsConnected = isConnected } : new RegistryView
        {
            Endpoint = endpoint,
            IsConnected = isConnected,
            RegistryId = view.RegistryId,
            Sequence = sequence,
            LastListAt = At(view.LastHeard),
            Services = view.Services.Count,
            Instances = view.Services.Values.Sum(static service => service.Instances.Length),
        };
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
        int changed = keys.Count(key => Merge(key, now));
        Sequence += changed > 0 ? 1UL : 0;
    }

    /// <summary>Decides an entry anew: own, else of the view that had it and still has it, else of the oldest view that has it.</summary>
    /// <returns>Whether the list changes.</returns>
    private bool Merge(in EntryKey key, TimeSpan now)
    {
        if (_own.ContainsKey(key))
        {
            return false; // What is own is set where it changes.
        }

        EntryKey wanted = key;
        TableEntry? entry = _table.Find(key);
        (ListedInstance? before, PeerView? formerOwner) = (entry?.Instance, entry?.Owner);
        PeerView? owner = formerOwner is not null && _views.Contains(formerOwner) && formerOwner.Find(key) is not null ? formerOwner
            : _views.Find(view => view.Find(wanted) is not null);
        if (owner?.Find(key) is not { } after)
        {
            if (entry is not null)
            {
                _table.Remove(entry);
            }

            if (formerOwner is not null)
            {
                Report(RegistryEventType.Lost, now, formerOwner.RegistryId, key, before!);
            }

            return entry is not null;
        }

        if (entry is null && !_table.CanAdd(key, after, settings.MaxEntries))
        {
            LeaveOut(now, owner);
            return false;
        }

        _table.Set(key, after, owner);
        _removals.Forget(key);
        if (before != after || formerOwner is null)
        {
            Report(formerOwner is null ? RegistryEventType.Learned : RegistryEventType.Updated, now, owner.RegistryId, key, after);
        }

        return before != after;
    }

    /// <summary>An entry of a peer has no place in the list. When others have gone, it is looked for again.</summary>
    private void LeaveOut(TimeSpan now, PeerView view)
    {
        _fullAt = _table.Count;
        if (!view.HasReportedFull)
        {
            view.HasReportedFull = true;
            Report(RegistryEventType.ListFull, now, view.RegistryId, view.RemoteAddress);
        }
    }

    private void MergeLeftOut(TimeSpan now)
    {
        if (_table.Count < _fullAt)
        {
            _fullAt = 0;
            var all = new HashSet<EntryKey>();
            _views.ForEach(view => Collect(all, view.Services, []));
            Merge(now, all);
        }
    }

    /// <summary>The entries of services that differ: unchanged services are the same objects.</summary>
    private static void Collect(HashSet<EntryKey> touched, SortedDictionary<ServiceKey, ListedService> before,
        SortedDictionary<ServiceKey, ListedService> after)
    {
        touched.UnionWith(
            from service in before.Values.Where(service => !ReferenceEquals(after.GetValueOrDefault(service.Key), service))
                .Concat(after.Values.Where(service => !ReferenceEquals(before.GetValueOrDefault(service.Key), service)))
            from instance in service.Instances
            select new EntryKey(service.Key, instance.Endpoint));
    }
}

/// <summary>
/// What one connection to a peer registry has brought. A new connection begins with a new view, which remembers no sequence number: a
/// restarted peer is believed at once.
/// </summary>
internal sealed class PeerView(string remoteAddress)
{
    private static readonly SortedDictionary<ServiceKey, ListedService> Nothing = [];

    // Own entries that were removed here while this peer may still echo them, and when they count again.
    private readonly Dictionary<EntryKey, TimeSpan> _excluded = [];

    public string RemoteAddress { get; } = remoteAddress;

    public uint RegistryId { get; set; }

    /// <summary>Null before the first list that counts.</summary>
    public ulong? Sequence { get; set; }

    public TimeSpan LastHeard { get; set; }

    /// <summary>A newer connection to the same registry has brought a list.</summary>
    public bool IsReplaced { get; set; }

    public TimeSpan? LostAt { get; set; }

    /// <summary>Whether a REGISTRY_SYNC came: then its full lists, which contain entries of other registries, are ignored.</summary>
    public bool SendsOwnEntries { get; set; }

    public bool HasReportedConflict { get; set; }

    public bool HasReportedFull { get; set; }

    /// <summary>Replaced as a whole, never changed.</summary>
    public SortedDictionary<ServiceKey, ListedService> Services { get; set; } = Nothing;

    /// <summary>Whether that is where this peer is; connections within the process have no address.</summary>
    public bool IsAt(string address) => address.Length > 0 && string.Equals(RemoteAddress, address, StringComparison.Ordinal);

    public ListedInstance? Find(in EntryKey key) => _excluded.Count > 0 && _excluded.ContainsKey(key) ? null : FindListed(key);

    /// <summary>
    /// An own entry was removed: this view's echo of it does not count until a list came without it, or until the time is over.
    /// </summary>
    public void Exclude(in EntryKey key, TimeSpan until)
    {
        if (!SendsOwnEntries)
        {
            _excluded[key] = until;
        }
    }

    /// <summary>Ends exclusions whose time is over, or whose entry the present list does not have.</summary>
    /// <returns>The entries that count again.</returns>
    public List<EntryKey> EndExclusions(TimeSpan now, bool isNewList)
    {
        List<EntryKey> ended =
        [
            .. from excluded in _excluded
               where SendsOwnEntries || now >= excluded.Value || (isNewList && FindListed(excluded.Key) is null)
               select excluded.Key,
        ];
        ended.ForEach(key => _excluded.Remove(key));
        return ended;
    }

    private ListedInstance? FindListed(in EntryKey key)
    {
        ListedInstance[] instances = Services.GetValueOrDefault(key.Service)?.Instances ?? [];
        int index = instances.AsSpan().BinarySearch(new AtEndpoint(key.Endpoint));
        return index < 0 ? null : instances[index];
    }

    private readonly record struct AtEndpoint(ServiceText Endpoint) : IComparable<ListedInstance>
    {
        public int CompareTo(ListedInstance? other) => Endpoint.CompareTo(other?.Endpoint);
    }
}
