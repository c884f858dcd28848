namespace Net.Zlink.Services.Tests.Clusters;

/// <summary>A list under way.</summary>
internal sealed record SentList(ServiceListHeader Header, ListedService[] Services)
{
    public SortedDictionary<ServiceKey, ListedService> ToDictionary() => new(Services.ToDictionary(static service => service.Key));
}

/// <summary>One registry of a modelled cluster, of either kind.</summary>
internal abstract class ClusterNode
{
    /// <summary>The entries that are registered here.</summary>
    public abstract IReadOnlySet<string> Own { get; }

    /// <summary>What the list says.</summary>
    public abstract IReadOnlySet<string> Listed { get; }

    /// <summary>How many lists went out because something changed.</summary>
    public int ChangedLists { get; protected set; }

    public abstract void Register(TimeSpan now, string key, uint weight);

    public abstract void Unregister(TimeSpan now, string key);

    public abstract void Heartbeat(TimeSpan now, string key);

    /// <summary>Ticks, and says which lists go to everybody.</summary>
    public abstract IReadOnlyList<SentList> Tick(TimeSpan now);

    /// <summary>What a new subscriber gets.</summary>
    public abstract IReadOnlyList<SentList> Greeting();

    /// <summary>A new connection to a peer.</summary>
    public abstract object Connected(int peer);

    public abstract void Disconnected(TimeSpan now, object connection);

    public abstract void Take(TimeSpan now, object connection, SentList list);

    protected static RegistryRequest Request(ushort id, string key, uint weight = 1) => new(id, KeyOf(key), weight);

    protected static EntryKey KeyOf(string key) => new(new ServiceKey(1, new ServiceText(key[..1])), new ServiceText(key[1..]));

    protected static IReadOnlySet<string> Texts(IEnumerable<ListedService> services) =>
        services.SelectMany(static service => service.Instances.Select(
            instance => $"{service.Key.Name}{instance.Endpoint} {instance.Weight}")).ToHashSet(StringComparer.Ordinal);
}
