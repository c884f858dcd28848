using System.Collections.Immutable;

namespace Net.Zlink.Services;

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

    /// <summary>Its instances, in the order of the bytes of their endpoints; empty where nobody serves it.</summary>
    public ImmutableArray<ServiceInstance> Instances { get; }

    /// <summary>Counts the changes of this service in its directory; 0 for one that was never listed.</summary>
    public long Version { get; }

    /// <summary>When the last change came, by the clock of the directory.</summary>
    public DateTimeOffset ChangedAt { get; }

    /// <summary>Whether there is an instance.</summary>
    public bool IsAvailable => !Instances.IsEmpty;

    /// <summary>For logs and debuggers.</summary>
    /// <returns>The name, the version and how many instances there are.</returns>
    public override string ToString() => $"{Service}: version {Version}, {Instances.Length} instances";
}
