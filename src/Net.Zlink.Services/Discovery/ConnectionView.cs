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
