namespace Net.Zlink.Services;

/// <summary>What every directory can do.</summary>
public static class ServiceDirectoryExtensions
{
    /// <summary>Waits until a service has some instances.</summary>
    /// <param name="directory">Knows where the service is.</param>
    /// <param name="service">The name of the service.</param>
    /// <param name="instances">How many at least, 1 or more.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The snapshot that has them.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">Fewer than 1 instance.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The directory has ended.</exception>
    public static async ValueTask<ServiceSnapshot> WaitForAsync(
        this IServiceDirectory directory, string service, int instances = 1, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(directory);
        ArgumentNullException.ThrowIfNull(service);
        ArgumentOutOfRangeException.ThrowIfLessThan(instances, 1);
        if (directory.GetService(service) is { } present && present.Instances.Length >= instances)
        {
            return present;
        }

        await foreach (ServiceChange change in directory.WatchAsync(service, cancellationToken).ConfigureAwait(false))
        {
            if (change.After.Instances.Length >= instances)
            {
                return change.After;
            }
        }

        throw new ObjectDisposedException(directory.GetType().Name);
    }
}
