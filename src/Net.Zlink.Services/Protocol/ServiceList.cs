namespace Net.Zlink.Services;

/// <summary>One instance in a list.</summary>
/// <param name="Endpoint">Where it is; not empty.</param>
/// <param name="RoutingId">A copy of what the list says.</param>
/// <param name="Weight">1 or more.</param>
internal sealed record ListedInstance(ServiceText Endpoint, RoutingId RoutingId, uint Weight);

/// <summary>One service in a list.</summary>
/// <param name="Key">Kind and name.</param>
/// <param name="Instances">Each endpoint once, in the order of their bytes; at least one.</param>
internal sealed record ListedService(ServiceKey Key, ListedInstance[] Instances);

/// <summary>The first frames of a SERVICE_LIST or REGISTRY_SYNC.</summary>
/// <param name="MessageId">One of the two.</param>
/// <param name="RegistryId">Whose list it is.</param>
/// <param name="Sequence">Grows with every change.</param>
/// <param name="ServiceCount">How many services are said to follow: a claim of the sender, not to be allocated by.</param>
internal readonly record struct ServiceListHeader(ushort MessageId, uint RegistryId, ulong Sequence, uint ServiceCount)
{
    public const int FrameCount = 4;

    /// <summary>Reads the header alone, so that a list that is not wanted costs nothing.</summary>
    /// <returns>False: it is no list.</returns>
    public static bool TryRead(in Frames frames, out ServiceListHeader header)
    {
        header = default;
        if (frames.Count < FrameCount
            || !frames.TryReadUInt16(0, out ushort id)
            || id is not (MessageIds.ServiceList or MessageIds.RegistrySync)
            || !frames.TryReadUInt32(1, out uint registry)
            || !frames.TryReadUInt64(2, out ulong sequence)
            || !frames.TryReadUInt32(3, out uint services))
        {
            return false;
        }

        header = new ServiceListHeader(id, registry, sequence, services);
        return true;
    }
}
