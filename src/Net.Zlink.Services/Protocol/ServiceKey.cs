namespace Net.Zlink.Services;

/// <summary>A service of one kind. Ordered as lists are: by kind, then by the bytes of the name.</summary>
/// <param name="Kind">The native service type, as it came.</param>
/// <param name="Name">The name of the service.</param>
internal readonly record struct ServiceKey(ushort Kind, ServiceText Name) : IComparable<ServiceKey>
{
    public int CompareTo(ServiceKey other) => Kind != other.Kind ? Kind.CompareTo(other.Kind) : Name.CompareTo(other.Name);
}

/// <summary>One endpoint of one service.</summary>
/// <param name="Service">The service.</param>
/// <param name="Endpoint">The endpoint, as it came.</param>
internal readonly record struct EntryKey(ServiceKey Service, ServiceText Endpoint);
