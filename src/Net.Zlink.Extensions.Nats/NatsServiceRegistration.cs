using Microsoft.Extensions.Logging;
using NATS.Client.Core;
using NATS.Client.KeyValueStore;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Nats;

/// <summary>An entry of a JetStream key-value bucket that is renewed until it is disposed. Gateways that follow the bucket find the
/// service.</summary>
/// <remarks>
/// Safe for any number of threads. It is renewed every third of its lease, also behind a loss of the connection and a restart of the
/// server. An entry that is not renewed, since its process has ended, runs out. Dispose it before the connection.
/// </remarks>
/// <example>
/// <code>
/// receiver.Bind("tcp://*:5555");
/// await using var lease = await NatsServiceRegistration.RegisterAsync(context, nats, receiver.Register("quotes"));
/// </code>
/// </example>
public sealed class NatsServiceRegistration : IAsyncDisposable, IDisposable
{
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1);

    // Disposal must end also while the server is down; the entry runs out by itself then.
    private static readonly TimeSpan RemovalTimeout = TimeSpan.FromSeconds(2);

    private readonly LeaseBucket _bucket;
    private readonly Func<ServiceInstance> _instance;
    private readonly ServiceRegistration? _followed;
    private readonly string _key;
    private readonly TimeProvider _clock;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _end = new();
    private readonly Lock _gate = new();
    private INatsKVStore? _store;
    private TimeSpan _lease;
    private Task _renewing = Task.CompletedTask;
    private Task? _disposal;

    private NatsServiceRegistration(ZlinkContext context, INatsConnection connection, Func<ServiceInstance> instance,
        ServiceRegistration? followed, NatsServiceOptions options)
    {
        _bucket = new LeaseBucket(connection, options);
        _instance = instance;
        _followed = followed;
        Instance = instance();
        _key = ServiceLease.KeyOf(Instance.Service, Instance.Endpoint);
        _clock = context.TimeProvider;
        _logger = context.LoggerFactory.CreateLogger<NatsServiceRegistration>();
        _lease = options.Lease;
    }

    /// <summary>What was registered, with the weight of the beginning.</summary>
    public ServiceInstance Instance { get; }

    /// <summary>Registers an instance, and renews it from then on.</summary>
    /// <param name="context">Gives the clock and the log.</param>
    /// <param name="connection">The connection to NATS. The registration does not own it.</param>
    /// <param name="instance">The service, its endpoint as gateways reach it, and its weight.</param>
    /// <param name="options">The bucket; null: the defaults.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is registered then, or the entry runs out.</param>
    /// <returns>Complete when the server has the entry. Dispose the registration to remove it.</returns>
    /// <exception cref="ArgumentException">An argument is null, or an option or the instance is not valid.</exception>
    /// <exception cref="NatsException">The server cannot be reached, or has no JetStream.</exception>
    /// <exception cref="InvalidOperationException">The entries of the bucket live for ever.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public static Task<NatsServiceRegistration> RegisterAsync(ZlinkContext context, INatsConnection connection, ServiceInstance instance,
        NatsServiceOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(instance);
        return StartAsync(context, connection, () => instance, followed: null, options, cancellationToken);
    }

    /// <summary>Registers what a receiver has registered: with its weight, until it ends. A drain of the receiver removes it,
    /// too.</summary>
    /// <param name="context">Gives the clock and the log.</param>
    /// <param name="connection">The connection to NATS. The registration does not own it.</param>
    /// <param name="registration">A registration of a receiver; the receiver needs no registry.</param>
    /// <param name="options">The bucket; null: the defaults.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is registered then, or the entry runs out.</param>
    /// <inheritdoc cref="RegisterAsync(ZlinkContext, INatsConnection, ServiceInstance, NatsServiceOptions, CancellationToken)"
    /// path="/returns"/>
    /// <inheritdoc cref="RegisterAsync(ZlinkContext, INatsConnection, ServiceInstance, NatsServiceOptions, CancellationToken)"
    /// path="/exception"/>
    public static Task<NatsServiceRegistration> RegisterAsync(ZlinkContext context, INatsConnection connection,
        ServiceRegistration registration, NatsServiceOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(registration);
        return StartAsync(context, connection,
            () => new ServiceInstance(registration.Service, registration.Endpoint) { Weight = registration.Weight }, registration, options,
            cancellationToken);
    }

    /// <summary>Removes the entry and ends the renewal. Idempotent.</summary>
    /// <returns>Complete when the server has removed it, or cannot be reached within 2 s: the entry runs out then.</returns>
    public ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            return new ValueTask(_disposal ??= RemoveAsync());
        }
    }

    /// <summary>As <see cref="DisposeAsync"/>, and returns at once. Where the connection ends before the server has the removal, the entry
    /// runs out.</summary>
    public void Dispose() => _ = DisposeAsync().AsTask();

    private static async Task<NatsServiceRegistration> StartAsync(ZlinkContext context, INatsConnection connection,
        Func<ServiceInstance> instance, ServiceRegistration? followed, NatsServiceOptions? options, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(context);
        ArgumentNullException.ThrowIfNull(connection);
        var registration = new NatsServiceRegistration(
            context, connection, instance, followed, (options ?? new NatsServiceOptions()).ValidCopy());
        if (ServiceLease.Read(registration._key, ServiceLease.Of(registration.Instance).ToJson(), out string reason) is null)
        {
            throw new ArgumentException($"{registration.Instance} cannot be registered: {reason}.", nameof(instance));
        }

        await registration.RenewAsync(cancellation).ConfigureAwait(false);
        registration._renewing = Task.WhenAll(registration.RenewAllAsync(), registration.FollowAsync());
        return registration;
    }

    private async Task RenewAsync(CancellationToken cancellation)
    {
        if (_store is null)
        {
            (_store, _lease) = await _bucket.OpenAsync(cancellation).ConfigureAwait(false);
        }

        await _store.PutAsync(_key, ServiceLease.Of(_instance()).ToJson(), NatsRawSerializer<byte[]>.Default, cancellation)
            .ConfigureAwait(false);
    }

    private async Task RenewAllAsync()
    {
        bool hasFailed = false;
        while (true)
        {
            await Task.Delay(hasFailed ? RetryInterval : _lease / 3, _clock, _end.Token)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (_end.IsCancellationRequested)
            {
                return;
            }

            try
            {
                using var limit = new CancellationTokenSource(_lease, _clock);
                using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, _end.Token);
                await RenewAsync(either.Token).ConfigureAwait(false);
                if (hasFailed)
                {
                    NatsLog.RenewalWorksAgain(_logger, Instance.Service, Instance.Endpoint);
                }

                hasFailed = false;
            }
            catch (Exception e) when (!_end.IsCancellationRequested)
            {
                _store = null; // The bucket may be gone: it is opened, or made, again.
                if (!hasFailed)
                {
                    NatsLog.RenewalFailed(_logger, e, Instance.Service, Instance.Endpoint);
                }

                hasFailed = true;
            }
            catch (Exception)
            {
                return;
            }
        }
    }

    private async Task FollowAsync()
    {
        if (_followed is null)
        {
            return;
        }

        try
        {
            await foreach (RegistrationState state in _followed.WatchAsync(_end.Token).ConfigureAwait(false))
            {
                if (state == RegistrationState.Ended)
                {
                    _ = DisposeAsync().AsTask(); // It waits for this loop, which ends here.
                    return;
                }
            }
        }
        catch (OperationCanceledException)
        {
        }
    }

    private async Task RemoveAsync()
    {
        await _end.CancelAsync().ConfigureAwait(false);
        await _renewing.ConfigureAwait(false);
        try
        {
            using var limit = new CancellationTokenSource(RemovalTimeout, _clock);
            if (_store is { } store)
            {
                await store.DeleteAsync(_key, cancellationToken: limit.Token).AsTask().WaitAsync(limit.Token).ConfigureAwait(false);
            }
        }
        catch (Exception e)
        {
            NatsLog.RemovalFailed(_logger, e, Instance.Service, Instance.Endpoint);
        }
    }
}
