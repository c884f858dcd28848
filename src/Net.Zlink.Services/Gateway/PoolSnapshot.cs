namespace Net.Zlink.Services;

/// <summary>The receivers of one service that are ready, at one moment, in the order of the bytes of their endpoints. Immutable: a send
/// reads it without a lock.</summary>
internal sealed class PoolSnapshot
{
    public static PoolSnapshot Empty { get; } = new([], [], isListed: false, isFirstAttempt: false);

    private readonly Dictionary<RoutingId, int> _byId = [];

    /// <param name="links">The links that are ready.</param>
    /// <param name="instances">What the directory says of each.</param>
    /// <param name="isListed">The directory lists somebody, ready or not.</param>
    /// <param name="isFirstAttempt">One that is listed makes its first attempt to connect.</param>
    public PoolSnapshot(ReceiverLink[] links, ServiceInstance[] instances, bool isListed, bool isFirstAttempt)
    {
        Links = links;
        Instances = instances;
        IsListed = isListed;
        IsFirstAttempt = isFirstAttempt;
        WeightsUpTo = new ulong[links.Length];
        ulong sum = 0;
        for (int i = 0; i < links.Length; i++)
        {
            sum += Math.Max(1, instances[i].Weight);
            WeightsUpTo[i] = sum;
            if (!instances[i].RoutingId.IsEmpty)
            {
                _byId.TryAdd(instances[i].RoutingId, i);
            }
        }
    }

    public ReceiverLink[] Links { get; }

    public ServiceInstance[] Instances { get; }

    public ulong[] WeightsUpTo { get; }

    public bool IsListed { get; }

    public bool IsFirstAttempt { get; }

    public int Count => Links.Length;

    /// <summary>The place of the first receiver that is listed with this routing id; -1: none is ready.</summary>
    public int IndexOf(RoutingId routingId) => _byId.TryGetValue(routingId, out int index) ? index : -1;

    /// <summary>The weight of one receiver, 1 or more.</summary>
    public uint WeightOf(int index) => Math.Max(1, Instances[index].Weight);
}
