namespace Net.Zlink.Services;

/// <summary>
/// What a list may be, in one place: a registry lists no more, and its followers take no less. Only numbers of here are used on both sides.
/// </summary>
internal static class ListLimits
{
    /// <summary>How many entries a registry lists, own and learned ones.</summary>
    public const int MaxEntries = 100_000;

    /// <summary>How many bytes a list has, as <see cref="ServiceListWriter.ByteCount"/> counts them: own entries and all of them fit into
    /// the default outbound queue of a subscriber together.</summary>
    public const long MaxBytes = 32 * 1024 * 1024;

    /// <summary>The parts of a list whose every entry is a service of its own, and one for removals:
    /// <see cref="ZmpSocketOptions.MaxMessageParts"/> of followers.</summary>
    public const int MaxParts = ServiceListHeader.FrameCount + (2 * PartsPerItem * MaxEntries) + 1;

    /// <summary>Of a service without instances: kind, name, count. Of an instance: endpoint, routing id, weight.</summary>
    public const int PartsPerItem = 3;

    private const int PartHeader = 8;

    public static long HeaderBytes => ServiceListHeader.FrameCount * (PartHeader + sizeof(ulong));

    public static long BytesOf(ServiceKey service) =>
        (PartsPerItem * PartHeader) + sizeof(ushort) + service.Name.Span.Length + sizeof(uint);

    public static long BytesOf(ListedInstance instance) =>
        (PartsPerItem * PartHeader) + instance.Endpoint.Span.Length + instance.RoutingId.Length + sizeof(uint);
}
