namespace Net.Zlink.Services;

/// <summary>Knows where services are. All that a gateway needs: a <see cref="RegistryDirectory"/>, a <see cref="StaticDirectory"/>, or
/// one of your own.</summary>
/// <remarks>Implementations are safe for any number of threads.</remarks>
public interface IServiceDirectory
{
    /// <summary>Who decides what it lists: gateways and SPOT nodes connect only to what <see cref="DirectoryEndpointOptions"/> allow.
    /// Default: all who can register from the network.</summary>
    DirectoryTrust Trust => DirectoryTrust.Network;

    /// <summary>The present state of one service.</summary>
    /// <param name="service">Its name.</param>
    /// <returns>A snapshot; without instances if the service is unknown or has none.</returns>
    ServiceSnapshot GetService(string service);

    /// <summary>Follows one service, or all of them. Begins with what is there; services without instances are left out of that.</summary>
    /// <param name="service">Its name; null for all services.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>Changes in order. A slow reader misses states between, never the last one; it holds one state per service at most. Ends
    /// when the directory ends.</returns>
    IAsyncEnumerable<ServiceChange> WatchAsync(string? service = null, CancellationToken cancellationToken = default);
}

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
