using System.Collections.Immutable;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>A directory that the application fills: requests work without a registry. Safe for any number of threads.</summary>
public sealed class StaticDirectory : IServiceDirectory, IKnowsRemovals
{
    private static readonly Comparer<byte[]> ByBytes =
        Comparer<byte[]>.Create(static (left, right) => left.AsSpan().SequenceCompareTo(right));

    private readonly Lock _gate = new();
    private readonly TimeProvider _clock;
    private readonly ServiceWatchers _watchers;
    private long _changes;
    private ImmutableDictionary<string, ServiceSnapshot> _services =
        ImmutableDictionary.Create<string, ServiceSnapshot>(StringComparer.Ordinal);

    /// <summary>A directory with these instances, of any number of services; <see cref="SetService"/> changes it.</summary>
    /// <param name="instances">The instances; where one service has an endpoint twice the last one counts.</param>
    /// <exception cref="ArgumentNullException"><paramref name="instances"/> is null.</exception>
    /// <exception cref="ArgumentException">An instance has no service or endpoint, or a weight of 0.</exception>
    public StaticDirectory(params IEnumerable<ServiceInstance> instances)
        : this(TimeProvider.System, instances)
    {
    }

    /// <summary>The same on another clock, which <see cref="ServiceSnapshot.ChangedAt"/> shows.</summary>
    /// <param name="clock">The clock.</param>
    /// <param name="instances">The instances.</param>
    /// <exception cref="ArgumentNullException">One of the arguments is null.</exception>
    /// <exception cref="ArgumentException">An instance has no service or endpoint, or a weight of 0.</exception>
    public StaticDirectory(TimeProvider clock, params IEnumerable<ServiceInstance> instances)
    {
        ArgumentNullException.ThrowIfNull(clock);
        ArgumentNullException.ThrowIfNull(instances);
        _clock = clock;
        _watchers = new ServiceWatchers(GetService, () => Volatile.Read(ref _services).Keys);
        foreach (IGrouping<string, ServiceInstance> service in
            instances.GroupBy(static instance => Checked(instance).Service, StringComparer.Ordinal))
        {
            SetService(service.Key, service);
        }
    }

    /// <inheritdoc/>
    public DirectoryTrust Trust => DirectoryTrust.Application;

    /// <inheritdoc/>
    /// <exception cref="ArgumentNullException"><paramref name="service"/> is null.</exception>
    public ServiceSnapshot GetService(string service)
    {
        ArgumentNullException.ThrowIfNull(service);
        return Volatile.Read(ref _services).TryGetValue(service, out ServiceSnapshot? snapshot)
            ? snapshot
            : new ServiceSnapshot(service, []);
    }

    /// <summary>Replaces all instances of one service.</summary>
    /// <param name="service">Its name.</param>
    /// <param name="instances">Its instances from now on; may be empty.</param>
    /// <exception cref="ArgumentNullException">One of the arguments is null.</exception>
    /// <exception cref="ArgumentException">An instance has another service, no endpoint, or a weight of 0.</exception>
    public void SetService(string service, params IEnumerable<ServiceInstance> instances)
    {
        ArgumentException.ThrowIfNullOrEmpty(service);
        ArgumentNullException.ThrowIfNull(instances);
        ImmutableArray<ServiceInstance> sorted = [.. instances
            .Select(instance => string.Equals(Checked(instance).Service, service, StringComparison.Ordinal) ? instance
                : throw new ArgumentException(
                    $"{new RedactedEndpoint(instance.Endpoint)} is an instance of {instance.Service}, not of {service}.",
                    nameof(instances)))
            .Reverse().DistinctBy(static instance => instance.Endpoint, StringComparer.Ordinal)
            .OrderBy(static instance => Encoding.UTF8.GetBytes(instance.Endpoint), ByBytes)];
        lock (_gate)
        {
            ServiceSnapshot before = GetService(service);
            if (before.Instances.SequenceEqual(sorted))
            {
                return;
            }

            // One counter for all services: one that is removed and comes again has a greater version, and no entry meanwhile.
            Volatile.Write(ref _services, sorted.IsEmpty ? _services.Remove(service)
                : _services.SetItem(service, new ServiceSnapshot(service, sorted, ++_changes, _clock.GetUtcNow())));
        }

        _watchers.Notify(service);
    }

    /// <inheritdoc/>
    public IAsyncEnumerable<ServiceChange> WatchAsync(string? service = null, CancellationToken cancellationToken = default) =>
        _watchers.WatchAsync(service, cancellationToken);

    /// <summary>Ends the enumerations of <see cref="WatchAsync"/>, each behind the last state. The snapshots stay. Idempotent.</summary>
    public void Complete() => _watchers.Complete();

    /// <summary>The application says each word.</summary>
    bool IKnowsRemovals.IsRemoved(string service, string endpoint) => true;

    private static ServiceInstance Checked(ServiceInstance instance)
    {
        ArgumentNullException.ThrowIfNull(instance);
        return string.IsNullOrEmpty(instance.Service) || string.IsNullOrEmpty(instance.Endpoint) || instance.Weight == 0
            ? throw new ArgumentException($"An instance needs a service, an endpoint and a weight of at least 1, unlike {instance}.",
                nameof(instance))
            : instance;
    }
}
