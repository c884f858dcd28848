namespace Net.Zlink.Services;

/// <summary>What changed in one service. Several changes may have become one: only the last state is promised.</summary>
/// <param name="Before">The state that the reader saw last.</param>
/// <param name="After">The present state.</param>
public sealed record ServiceChange(ServiceSnapshot Before, ServiceSnapshot After)
{
    /// <summary>The name of the service.</summary>
    public string Service => After.Service;

    /// <summary>Instances whose endpoint was not listed before.</summary>
    public IEnumerable<ServiceInstance> Added => After.Instances.Where(instance => At(Before, instance.Endpoint) is null);

    /// <summary>Instances whose endpoint is not listed any more.</summary>
    public IEnumerable<ServiceInstance> Removed => Before.Instances.Where(instance => At(After, instance.Endpoint) is null);

    /// <summary>Instances, as they are now, whose endpoint was listed before with another routing id or weight.</summary>
    public IEnumerable<ServiceInstance> Updated =>
        After.Instances.Where(instance => At(Before, instance.Endpoint) is { } old && old != instance);

    private static ServiceInstance? At(ServiceSnapshot snapshot, string endpoint) =>
        snapshot.Instances.FirstOrDefault(instance => string.Equals(instance.Endpoint, endpoint, StringComparison.Ordinal));
}
