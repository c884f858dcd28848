namespace Net.Zlink.Services;

/// <summary>
/// Decodes a list as leniently as the native core: what follows a malformed header is left out, what comes before it counts.
/// </summary>
internal static class ServiceListReader
{
    // Of a service without instances: kind, name, count. Of an instance: endpoint, routing id, weight.
    private const int FramesPerItem = 3;

    private static readonly Comparer<ListedInstance> ByEndpoint =
        Comparer<ListedInstance>.Create(static (left, right) => left.Endpoint.CompareTo(right.Endpoint));

    /// <summary>Reads all services behind the header.</summary>
    /// <param name="frames">The whole message; its header was read.</param>
    /// <param name="header">Its header.</param>
    /// <param name="previous">What the same sender's last list said: services that did not change keep their objects. Null:
    /// nothing.</param>
    /// <returns>In the order of their keys; none without instances.</returns>
    public static SortedDictionary<ServiceKey, ListedService> Read(in Frames frames, in ServiceListHeader header,
        IReadOnlyDictionary<ServiceKey, ListedService>? previous = null)
    {
        var services = new SortedDictionary<ServiceKey, ListedService>();
        int next = ServiceListHeader.FrameCount;
        for (uint i = 0; i < header.ServiceCount && frames.Count - next >= FramesPerItem; i++)
        {
            if (!frames.TryReadUInt16(next, out ushort kind) || !frames.TryReadUInt32(next + 2, out uint count))
            {
                break;
            }

            var key = new ServiceKey(kind, new ServiceText(frames[next + 1]));
            next += FramesPerItem;
            int present = (int)Math.Min(count, (uint)(frames.Count - next) / FramesPerItem);
            ListedService? known = null;
            previous?.TryGetValue(key, out known);
            if (services.TryGetValue(key, out ListedService? earlier))
            {
                services[key] = new ListedService(key, Sorted([.. earlier.Instances, .. Instances(frames, next, present)]));
            }
            else if (known is not null && IsSame(frames, next, present, known.Instances))
            {
                services.Add(key, known);
            }
            else if (Sorted(Instances(frames, next, present)) is { Length: > 0 } instances)
            {
                services.Add(key, new ListedService(key, instances));
            }

            next += present * FramesPerItem;
            if (present < count)
            {
                break;
            }
        }

        return services;
    }

    private static List<ListedInstance> Instances(in Frames frames, int first, int count)
    {
        var instances = new List<ListedInstance>(count);
        for (int at = first; at < first + (count * FramesPerItem); at += FramesPerItem)
        {
            // An id that is too long leaves the native entry undefined; an empty endpoint cannot be connected to.
            if (!frames[at].IsEmpty && frames[at + 1].Length <= RoutingId.MaxLength)
            {
                instances.Add(new ListedInstance(new ServiceText(frames[at]), new RoutingId(frames[at + 1].ToArray()),
                    frames.ReadWeight(at + 2)));
            }
        }

        return instances;
    }

    private static bool IsSame(in Frames frames, int first, int count, ListedInstance[] known)
    {
        if (count != known.Length)
        {
            return false;
        }

        for (int i = 0, at = first; i < count; i++, at += FramesPerItem)
        {
            ListedInstance instance = known[i];
            if (!frames[at].SequenceEqual(instance.Endpoint.Span) || !frames[at + 1].SequenceEqual(instance.RoutingId.Span)
                || frames.ReadWeight(at + 2) != instance.Weight)
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Each endpoint once, as its last mention says, in the order of their bytes.</summary>
    private static ListedInstance[] Sorted(List<ListedInstance> instances)
    {
        ListedInstance[] sorted = [.. instances.AsEnumerable().Reverse().DistinctBy(static instance => instance.Endpoint)];
        Array.Sort(sorted, ByEndpoint);
        return sorted;
    }
}
