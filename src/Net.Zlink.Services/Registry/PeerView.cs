namespace Net.Zlink.Services;

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

    /// <summary>What the last list says of an entry, unless it is excluded.</summary>
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
