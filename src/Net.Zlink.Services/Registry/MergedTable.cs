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
