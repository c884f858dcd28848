using System.Diagnostics.CodeAnalysis;
using System.Text;

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

/// <summary>
/// Decodes a list as leniently as the native core: what follows a malformed header is left out, what comes before it counts.
/// </summary>
internal static class ServiceListReader
{
    private const int FramesPerItem = ListLimits.PartsPerItem;

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

/// <summary>Encodes a complete list.</summary>
internal static class ServiceListWriter
{
    /// <summary>Adds all frames of a list to an empty message.</summary>
    /// <param name="message">Takes the frames.</param>
    /// <param name="header">Its <see cref="ServiceListHeader.ServiceCount"/> is ignored.</param>
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
        long bytes = ListLimits.HeaderBytes;
        foreach (ListedService service in services)
        {
            bytes += ListLimits.BytesOf(service.Key) + service.Instances.Sum(ListLimits.BytesOf);
        }

        return bytes;
    }
}

/// <summary>A name or an endpoint as the wire has it: any bytes, compared and ordered as unsigned bytes; a text only in logs.</summary>
internal sealed class ServiceText : IEquatable<ServiceText>, IComparable<ServiceText>
{
    /// <summary>Native readers cut longer ones.</summary>
    public const int MaxLength = 255;

    private readonly byte[] _bytes;
    private string? _text;

    public ServiceText(ReadOnlySpan<byte> bytes) => _bytes = bytes.ToArray();

    public ServiceText(string text)
    {
        _bytes = Encoding.UTF8.GetBytes(text);
        _text = text;
    }

    public ReadOnlySpan<byte> Span => _bytes;

    public bool IsEmpty => _bytes.Length == 0;

    /// <summary>The text, from 1 to 255 bytes of UTF-8: what may be sent.</summary>
    /// <exception cref="ArgumentException">It is empty or longer.</exception>
    public static ServiceText Checked(string text, string argument)
    {
        ArgumentException.ThrowIfNullOrEmpty(text, argument);
        var checkedText = new ServiceText(text);
        return checkedText._bytes.Length <= MaxLength ? checkedText
            : throw new ArgumentException(
                $"\"{text[..32]}...\" has {checkedText._bytes.Length} bytes in UTF-8; native readers cut what is longer than {MaxLength}.",
                argument);
    }

    public static bool operator ==(ServiceText? left, ServiceText? right) => left is null ? right is null : left.Equals(right);

    public static bool operator !=(ServiceText? left, ServiceText? right) => !(left == right);

    public int CompareTo(ServiceText? other) => other is null ? 1 : Span.SequenceCompareTo(other.Span);

    public bool Equals([NotNullWhen(true)] ServiceText? other) => other is not null && Span.SequenceEqual(other.Span);

    public override bool Equals(object? obj) => Equals(obj as ServiceText);

    public override int GetHashCode()
    {
        var hash = default(HashCode);
        hash.AddBytes(_bytes);
        return hash.ToHashCode();
    }

    public override string ToString() => _text ??= Encoding.UTF8.GetString(_bytes);
}

/// <summary>A service of one kind. Ordered as lists are: by kind, then by the bytes of the name.</summary>
/// <param name="Kind">The native service type, as it came.</param>
/// <param name="Name">The name of the service.</param>
internal readonly record struct ServiceKey(ushort Kind, ServiceText Name) : IComparable<ServiceKey>
{
    public int CompareTo(ServiceKey other) => Kind != other.Kind ? Kind.CompareTo(other.Kind) : Name.CompareTo(other.Name);
}

/// <summary>One endpoint of one service.</summary>
internal readonly record struct EntryKey(ServiceKey Service, ServiceText Endpoint);
