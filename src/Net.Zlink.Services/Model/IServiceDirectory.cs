namespace Net.Zlink.Services;

/// <summary>Knows where services are. All that a gateway needs: a Discovery, a <see cref="StaticDirectory"/>, or one of your own.</summary>
/// <remarks>Implementations are safe for any number of threads.</remarks>
public interface IServiceDirectory
{
    /// <summary>The present state of one service.</summary>
    /// <param name="service">Its name.</param>
    /// <returns>A snapshot; one without instances for a service that nobody serves or that is unknown.</returns>
    ServiceSnapshot GetService(string service);

    /// <summary>Follows one service, or all of them. Begins with what is there; services without instances are left out of that.</summary>
    /// <param name="service">Its name; null for all services.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>Changes in order. A slow reader misses states between, never the last one; it holds one state per service at most. Ends
    /// when the directory ends.</returns>
    IAsyncEnumerable<ServiceChange> WatchAsync(string? service = null, CancellationToken cancellationToken = default);
}
