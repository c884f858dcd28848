using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Connects a socket to each instance of a service, and disconnects it from those that are not listed any more.</summary>
/// <remarks>Safe for any number of threads. It ends by itself with the socket or the directory.</remarks>
/// <example>
/// <code>
/// DealerSocket dealer = context.CreateDealer();
/// await using var follower = new ServiceFollower(context, dealer, directory, "orders");
/// </code>
/// </example>
public sealed class ServiceFollower : IAsyncDisposable, IDisposable
{
    private readonly ZmpSocket _socket;
    private readonly IServiceDirectory _directory;
    private readonly HashSet<string> _connected = new(StringComparer.Ordinal);
    private readonly ILogger _logger;
    private readonly BackgroundLoop _loop;

    /// <summary>Begins to follow, in the background.</summary>
    /// <param name="context">The context of the socket: clock and log.</param>
    /// <param name="socket">The socket. Nothing else may connect it to the same endpoints.</param>
    /// <param name="directory">Knows where the service is.</param>
    /// <param name="service">The name of the service.</param>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentException">The name is empty.</exception>
    public ServiceFollower(ZlinkContext context, ZmpSocket socket, IServiceDirectory directory, string service)
    {
        ArgumentNullException.ThrowIfNull(context);
        ArgumentNullException.ThrowIfNull(socket);
        ArgumentNullException.ThrowIfNull(directory);
        ArgumentException.ThrowIfNullOrEmpty(service);
        _socket = socket;
        _directory = directory;
        Service = service;
        _logger = context.LoggerFactory.CreateLogger(ServicesLog.Category);
        _loop = BackgroundLoop.Start($"follower of {service}", _logger, context.TimeProvider, FollowAsync);
    }

    /// <summary>The name of the service.</summary>
    public string Service { get; }

    /// <summary>Ends the following. The connections that there are stay. Idempotent.</summary>
    /// <returns>Complete when the socket is not touched any more.</returns>
    public ValueTask DisposeAsync() => _loop.DisposeAsync();

    /// <summary>As <see cref="DisposeAsync"/>, and returns at once.</summary>
    public void Dispose() => _loop.Stop();

    // A turn of the loop: one enumeration. One that fails begins anew.
    private async ValueTask FollowAsync(CancellationToken cancellation)
    {
        Apply(_directory.GetService(Service)); // An enumeration does not begin with a service that has lost its instances.
        await foreach (ServiceChange change in _directory.WatchAsync(Service, cancellation).ConfigureAwait(false))
        {
            Apply(change.After);
        }

        throw new ObjectDisposedException(_directory.GetType().Name); // Ends the loop.
    }

    private void Apply(ServiceSnapshot snapshot)
    {
        HashSet<string> listed = [.. snapshot.Instances.Select(static instance => instance.Endpoint)];
        foreach (string endpoint in listed.Except(_connected, StringComparer.Ordinal).ToArray())
        {
            try
            {
                _socket.Connect(endpoint);
                _connected.Add(endpoint);
            }
            catch (ZlinkException e) when (e.Error != ZlinkError.ContextTerminated)
            {
                ServicesLog.InstanceUnusable(_logger, e, endpoint, Service);
            }
        }

        foreach (string endpoint in _connected.Except(listed, StringComparer.Ordinal).ToArray())
        {
            _connected.Remove(endpoint);
            try
            {
                _socket.Disconnect(endpoint);
            }
            catch (ZlinkException e) when (e.Error != ZlinkError.ContextTerminated)
            {
                // The application has disconnected it already.
            }
        }
    }
}
