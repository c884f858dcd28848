namespace Net.Zlink.Services;

/// <summary>What a registry lists: each entry with its owner, in the order of lists. Own entries have no view as owner.</summary>
internal sealed class MergedTable
{
    private readonly SortedDictionary<ServiceKey, Service> _services = [];
    private ListedService[]? _all;
    private ListedService[]? _own;

    /// <summary>How many entries there are.</summary>
    public int Count { get; private set; }

    /// <summary>Every service with its entries; the same array until something changes.</summary>
    public ListedService[] All => _all ??= [.. _services.Values.Select(static service => service.All)];

    /// <summary>Own entries alone.</summary>
    public ListedService[] Own =>
        _own ??= [.. _services.Values.Select(static service => service.Own).Where(static service => service.Instances.Length > 0)];

    public IEnumerable<(EntryKey Key, ListedInstance Instance, PeerView? Owner)> Entries =>
        from service in _services.Values
        from entry in service.Entries
        select (new EntryKey(service.Key, entry.Key), entry.Value.Instance, entry.Value.Owner);

    public bool HasService(ServiceKey key) => _services.ContainsKey(key);

    public bool TryGet(in EntryKey key, out ListedInstance instance, out PeerView? owner)
    {
        if (_services.TryGetValue(key.Service, out Service? service)
            && service.Entries.TryGetValue(key.Endpoint, out (ListedInstance Instance, PeerView? Owner) entry))
        {
            (instance, owner) = entry;
            return true;
        }

        (instance, owner) = (null!, null);
        return false;
    }

    public void Set(in EntryKey key, ListedInstance instance, PeerView? owner)
    {
        if (!_services.TryGetValue(key.Service, out Service? service))
        {
            _services.Add(key.Service, service = new Service(key.Service));
        }

        Count += service.Entries.ContainsKey(key.Endpoint) ? 0 : 1;
        service.Entries[key.Endpoint] = (instance, owner);
        Changed(service);
    }

    public void Remove(in EntryKey key)
    {
        if (_services.TryGetValue(key.Service, out Service? service) && service.Entries.Remove(key.Endpoint))
        {
            Count--;
            Changed(service);
            if (service.Entries.Count == 0)
            {
                _services.Remove(key.Service);
            }
        }
    }

    private void Changed(Service service)
    {
        service.Changed();
        _all = null;
        _own = null;
    }

    /// <summary>One service; the arrays for lists are made when a list is, not with each change: thousands may share one list.</summary>
    private sealed class Service(ServiceKey key)
    {
        private ListedService? _all;
        private ListedService? _own;

        public ServiceKey Key => key;

        public SortedDictionary<ServiceText, (ListedInstance Instance, PeerView? Owner)> Entries { get; } = [];

        public ListedService All => _all ??= new ListedService(key, [.. Entries.Values.Select(static entry => entry.Instance)]);

        public ListedService Own =>
            _own ??= new ListedService(key, [.. from entry in Entries.Values where entry.Owner is null select entry.Instance]);

        public void Changed()
        {
            _all = null;
            _own = null;
        }
    }
}

/// <summary>An entry that registered at this registry: a lease that heartbeats renew.</summary>
internal sealed class OwnEntry(ListedInstance instance, TimeSpan now)
{
    public ListedInstance Instance { get; set; } = instance;

    public TimeSpan RegisteredAt { get; } = now;

    public TimeSpan LastSign { get; set; } = now;
}

/// <summary>
/// What one connection to a peer registry has brought. A new connection begins with a new view, which remembers no sequence number: a
/// restarted peer is believed at once.
/// </summary>
internal sealed class PeerView(string remoteAddress)
{
    private static readonly SortedDictionary<ServiceKey, ListedService> Nothing = [];

    // Own entries that were removed here while a peer that does not say what is its own may still list them: key to the time from which
    // they count again.
    private readonly Dictionary<EntryKey, TimeSpan> _excluded = [];

    public string RemoteAddress { get; } = remoteAddress;

    public uint RegistryId { get; set; }

    /// <summary>Null before the first list that counts.</summary>
    public ulong? Sequence { get; set; }

    public TimeSpan LastHeard { get; set; }

    /// <summary>
    /// Whether a newer connection to the same registry has brought a list: what of this one is still unread is out of date.
    /// </summary>
    public bool IsReplaced { get; set; }

    /// <summary>When the connection ended.</summary>
    public TimeSpan? LostAt { get; set; }

    /// <summary>Whether a REGISTRY_SYNC came: then its full lists, with what it learned from others, are not looked at.</summary>
    public bool SendsOwnEntries { get; set; }

    /// <summary>Whether the conflict of two registries with one number was reported.</summary>
    public bool HasReportedConflict { get; set; }

    /// <summary>Replaced as a whole, never changed.</summary>
    public SortedDictionary<ServiceKey, ListedService> Services { get; set; } = Nothing;

    /// <summary>Whether that is where this peer is; connections within the process have no address.</summary>
    public bool IsAt(string address) => address.Length > 0 && string.Equals(RemoteAddress, address, StringComparison.Ordinal);

    public bool TryGet(in EntryKey key, out ListedInstance instance)
    {
        instance = null!;
        if (!Services.TryGetValue(key.Service, out ListedService? service) || (_excluded.Count > 0 && _excluded.ContainsKey(key)))
        {
            return false;
        }

        ListedInstance[] instances = service.Instances;
        int low = 0;
        int high = instances.Length - 1;
        while (low <= high)
        {
            int middle = (low + high) / 2;
            int order = instances[middle].Endpoint.CompareTo(key.Endpoint);
            if (order == 0)
            {
                instance = instances[middle];
                return true;
            }

            (low, high) = order < 0 ? (middle + 1, high) : (low, middle - 1);
        }

        return false;
    }

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
        List<EntryKey> ended = [];
        foreach ((EntryKey key, TimeSpan until) in _excluded)
        {
            if (SendsOwnEntries || now >= until || (isNewList && !Has(key)))
            {
                ended.Add(key);
            }
        }

        foreach (EntryKey key in ended)
        {
            _excluded.Remove(key);
        }

        return ended;
    }

    private bool Has(EntryKey key) =>
        Services.TryGetValue(key.Service, out ListedService? service)
        && Array.Exists(service.Instances, instance => instance.Endpoint == key.Endpoint);
}
