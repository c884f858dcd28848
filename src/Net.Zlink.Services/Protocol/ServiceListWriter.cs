namespace Net.Zlink.Services;

/// <summary>Encodes a complete list.</summary>
internal static class ServiceListWriter
{
    /// <summary>Adds all frames of a list to an empty message.</summary>
    /// <param name="message">Takes the frames.</param>
    /// <param name="header">Its <see cref="ServiceListHeader.ServiceCount"/> is not looked at.</param>
    /// <param name="services">In the order of their keys, none without instances.</param>
    public static void Write(MessageBuilder message, in ServiceListHeader header, IReadOnlyCollection<ListedService> services)
    {
        message.AddUInt16(header.MessageId).AddUInt32(header.RegistryId).AddUInt64(header.Sequence).AddUInt32((uint)services.Count);
        foreach (ListedService service in services)
        {
            message.AddUInt16(service.Key.Kind).Add(service.Key.Name.Span).AddUInt32((uint)service.Instances.Length);
            foreach (ListedInstance instance in service.Instances)
            {
                message.Add(instance.Endpoint.Span).Add(instance.RoutingId.Span).AddUInt32(instance.Weight);
            }
        }
    }

    /// <summary>How much of a queue a list takes up, frame headers included.</summary>
    public static long ByteCount(IReadOnlyCollection<ListedService> services)
    {
        const int FrameHeader = 8;
        const int Numbers = sizeof(uint) + (3 * FrameHeader); // Of an instance: its weight and three headers; of a service a little more.
        long bytes = ServiceListHeader.FrameCount * (FrameHeader + sizeof(ulong));
        foreach (ListedService service in services)
        {
            bytes += Numbers + sizeof(ushort) + service.Key.Name.Span.Length;
            foreach (ListedInstance instance in service.Instances)
            {
                bytes += Numbers + instance.Endpoint.Span.Length + instance.RoutingId.Length;
            }
        }

        return bytes;
    }
}
