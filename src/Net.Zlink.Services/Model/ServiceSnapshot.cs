using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;

namespace Net.Zlink.Services;

/// <summary>What is listed under a service name. The numbers are those of the wire.</summary>
[SuppressMessage("Design", "CA1028", Justification = "The wire has 16 bits for it.")]
public enum ServiceKind : ushort
{
    /// <summary>Nothing; no registry lists it.</summary>
    None = 0,

    /// <summary>Receivers, which gateways send to.</summary>
    Receiver = 1,

    /// <summary>SPOT nodes.</summary>
    SpotNode = 2,
}

/// <summary>One place where a service is: immutable, compared by value.</summary>
public sealed class ServiceInstance : IEquatable<ServiceInstance>
{
    /// <summary>An instance without a routing id and with the weight 1; an initializer sets other ones.</summary>
    /// <param name="service"><see cref="Service"/>.</param>
    /// <param name="endpoint"><see cref="Endpoint"/>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="service"/> or <paramref name="endpoint"/> is null.</exception>
    public ServiceInstance(string service, string endpoint)
    {
        ArgumentNullException.ThrowIfNull(service);
        ArgumentNullException.ThrowIfNull(endpoint);
        (Service, Endpoint) = (service, endpoint);
    }

    /// <summary>The name of the service.</summary>
    public string Service { get; }

    /// <summary>Where it is bound, as text that sockets connect to.</summary>
    public string Endpoint { get; }

    /// <summary>The id that it registered with; empty where nobody said one.</summary>
    public RoutingId RoutingId { get; init; }

    /// <summary>Its share with weighted load balancing, 1 or more. Default 1.</summary>
    public uint Weight { get; init; } = 1;

    /// <summary>Whether both are the same instance with the same routing id and weight.</summary>
    /// <param name="other">Another one, or null.</param>
    /// <returns>Whether every property is equal.</returns>
    public bool Equals(ServiceInstance? other) => other is not null && Weight == other.Weight && RoutingId == other.RoutingId
        && string.Equals(Endpoint, other.Endpoint, StringComparison.Ordinal)
        && string.Equals(Service, other.Service, StringComparison.Ordinal);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as ServiceInstance);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Service, Endpoint, RoutingId, Weight);

    /// <summary>Describes the instance for a log, without the query of its endpoint. The format may change.</summary>
    /// <returns>One line of text.</returns>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{Service} at {new RedactedEndpoint(Endpoint)}, weight {Weight}{(RoutingId.IsEmpty ? "" : $", id {RoutingId}")}");
}

/// <summary>All instances of one service at one moment. Immutable; safe for any number of threads.</summary>
public sealed class ServiceSnapshot
{
    /// <summary>A snapshot; a directory makes them.</summary>
    /// <param name="service">The name of the service.</param>
    /// <param name="instances">Its instances, each endpoint once; a default array is taken for an empty one.</param>
    /// <param name="version">Greater than that of the snapshot before it.</param>
    /// <param name="changedAt">When it became so, by the clock of the directory.</param>
    /// <exception cref="ArgumentNullException"><paramref name="service"/> is null.</exception>
    public ServiceSnapshot(string service, ImmutableArray<ServiceInstance> instances, long version = 0, DateTimeOffset changedAt = default)
    {
        ArgumentNullException.ThrowIfNull(service);
        Service = service;
        Instances = instances.IsDefault ? [] : instances;
        Version = version;
        ChangedAt = changedAt;
    }

    /// <summary>The name of the service.</summary>
    public string Service { get; }

    /// <summary>Its instances, in the order of the bytes of their endpoints; empty if the service has none.</summary>
    public ImmutableArray<ServiceInstance> Instances { get; }

    /// <summary>Grows with each change of this service in its directory; 0 while it is not listed.</summary>
    public long Version { get; }

    /// <summary>When the last change came, by the clock of the directory.</summary>
    public DateTimeOffset ChangedAt { get; }

    /// <summary>Whether there is an instance.</summary>
    public bool IsAvailable => !Instances.IsEmpty;

    /// <summary>For logs and debuggers.</summary>
    /// <returns>The name, the version and how many instances there are.</returns>
    public override string ToString() => $"{Service}: version {Version}, {Instances.Length} instances";
}

/// <summary>What changed in one service. Several changes may have become one: only the last state is promised.</summary>
public sealed class ServiceChange
{
    /// <summary>A change; a directory makes them.</summary>
    /// <param name="before"><see cref="Before"/>.</param>
    /// <param name="after"><see cref="After"/>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="before"/> or <paramref name="after"/> is null.</exception>
    public ServiceChange(ServiceSnapshot before, ServiceSnapshot after)
    {
        ArgumentNullException.ThrowIfNull(before);
        ArgumentNullException.ThrowIfNull(after);
        (Before, After) = (before, after);
    }

    /// <summary>The state that the reader saw last.</summary>
    public ServiceSnapshot Before { get; }

    /// <summary>The present state.</summary>
    public ServiceSnapshot After { get; }

    /// <summary>The name of the service.</summary>
    public string Service => After.Service;

    /// <summary>Instances whose endpoint was not listed before.</summary>
    public IEnumerable<ServiceInstance> Added => After.Instances.Where(instance => At(Before, instance.Endpoint) is null);

    /// <summary>Instances whose endpoint is not listed any more.</summary>
    public IEnumerable<ServiceInstance> Removed => Before.Instances.Where(instance => At(After, instance.Endpoint) is null);

    /// <summary>Instances, as they are now, whose endpoint was listed before with another routing id or weight.</summary>
    public IEnumerable<ServiceInstance> Updated =>
        After.Instances.Where(instance => At(Before, instance.Endpoint) is { } old && !old.Equals(instance));

    private static ServiceInstance? At(ServiceSnapshot snapshot, string endpoint) =>
        snapshot.Instances.FirstOrDefault(instance => string.Equals(instance.Endpoint, endpoint, StringComparison.Ordinal));
}
