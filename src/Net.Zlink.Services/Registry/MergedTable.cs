namespace Net.Zlink.Services;

/// <summary>One entry of a list. An own entry has no view as owner, and is a lease that heartbeats renew.</summary>
internal sealed class TableEntry(EntryKey key, ListedInstance instance)
{
    public EntryKey Key => key;

    public ListedInstance Instance { get; set; } = instance;

    public PeerView? Owner { get; set; }

    /// <summary>Who registered an own entry.</summary>
    public EntryOwners? Registrants { get; set; }

    public TimeSpan RegisteredAt { get; set; }
}

/// <summary>What a registry lists, in the order of lists.</summary>
internal sealed class MergedTable
{
    private readonly SortedDictionary<ServiceKey, Service> _services = [];
    private ListedService[]? _all;
    private ListedService[]? _own;

    /// <summary>Every service with its entries; the same array until something changes.</summary>
    public ListedService[] All => _all ??= [.. _services.Values.Select(static service => service.All)];

    /// <summary>Own entries alone.</summary>
    public ListedService[] Own =>
        _own ??= [.. _services.Values.Select(static service => service.Own).Where(static service => service.Instances.Length > 0)];

    public int Count { get; private set; }

    /// <summary>Of a list of all entries.</summary>
    public long ByteCount { get; private set; } = ListLimits.HeaderBytes;

    public IEnumerable<TableEntry> Entries => _services.Values.SelectMany(static service => service.Entries.Values);

    public bool HasService(ServiceKey key) => _services.ContainsKey(key);

    public TableEntry? Find(in EntryKey key) => _services.GetValueOrDefault(key.Service)?.Entries.GetValueOrDefault(key.Endpoint);

    /// <summary>Whether a new entry would exceed what followers take.</summary>
    public bool CanAdd(in EntryKey key, ListedInstance instance, int maxEntries) => Count < maxEntries
        && ByteCount + ListLimits.BytesOf(key.Service) + ListLimits.BytesOf(instance) <= ListLimits.MaxBytes;

    public TableEntry Set(in EntryKey key, ListedInstance instance, PeerView? owner)
    {
        if (!_services.TryGetValue(key.Service, out Service? service))
        {
            _services.Add(key.Service, service = new Service(key.Service));
            ByteCount += ListLimits.BytesOf(key.Service);
        }

        if (!service.Entries.TryGetValue(key.Endpoint, out TableEntry? entry))
        {
            service.Entries.Add(key.Endpoint, entry = new TableEntry(key, instance));
            Count++;
            ByteCount += ListLimits.BytesOf(instance);
        }

        ByteCount += instance.RoutingId.Length - entry.Instance.RoutingId.Length;
        (entry.Instance, entry.Owner) = (instance, owner);
        entry.Registrants = owner is null ? entry.Registrants : null;
        Changed(service);
        return entry;
    }

    public void Remove(TableEntry entry)
    {
        Service service = _services[entry.Key.Service];
        service.Entries.Remove(entry.Key.Endpoint);
        Count--;
        ByteCount -= ListLimits.BytesOf(entry.Instance);
        Changed(service);
        if (service.Entries.Count == 0)
        {
            _services.Remove(entry.Key.Service);
            ByteCount -= ListLimits.BytesOf(entry.Key.Service);
        }
    }

    private void Changed(Service service)
    {
        (_all, _own) = (null, null);
        service.Changed();
    }

    /// <summary>One service; the arrays for lists are made when a list is, not with each change: thousands may share one list.</summary>
    private sealed class Service(ServiceKey key)
    {
        private ListedService? _all;
        private ListedService? _own;

        public SortedDictionary<ServiceText, TableEntry> Entries { get; } = [];

        public ListedService All => _all ??= new ListedService(key, [.. Entries.Values.Select(static entry => entry.Instance)]);

        public ListedService Own =>
            _own ??= new ListedService(key, [.. from entry in Entries.Values where entry.Owner is null select entry.Instance]);

        public void Changed() => (_all, _own) = (null, null);
    }
}
