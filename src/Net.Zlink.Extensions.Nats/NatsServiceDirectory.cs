using Microsoft.Extensions.Logging;
using NATS.Client.Core;
using NATS.Client.KeyValueStore;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Nats;

/// <summary>Finds services in a JetStream key-value bucket, where <see cref="NatsServiceRegistration"/> keeps them.</summary>
/// <remarks>
/// Safe for any number of threads. While the server cannot be reached, the last known instances stay. An entry that is not renewed is
/// removed when the server has dropped it. Dispose the gateways that follow the directory first, and the directory before the connection.
/// </remarks>
/// <example>
/// <code>
/// await using var nats = new NatsConnection(new NatsOpts { Url = "nats://nats:4222" });
/// await using var directory = new NatsServiceDirectory(context, nats);
/// await using var gateway = new ServiceGateway(context, directory);
/// </code>
/// </example>
public sealed class NatsServiceDirectory : IServiceDirectory, IAsyncDisposable, IDisposable
{
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1);

    // In leases: a new watch shows what the old one missed while the server restarted.
    private const int LeasesPerWatch = 4;

    private readonly INatsConnection _connection;
    private readonly NatsServiceOptions _options;
    private readonly LeaseBucket _bucket;
    private readonly TimeProvider _clock;
    private readonly ILogger _logger;
    private readonly StaticDirectory _found;
    private readonly FollowedLeases _leases;
    private readonly CancellationTokenSource _end = new();
    private readonly Task _following;
    private CancellationTokenSource? _watch;

    /// <summary>Begins to follow the bucket, in the background.</summary>
    /// <param name="context">Gives the clock and the log.</param>
    /// <param name="connection">The connection to NATS. The directory does not own it.</param>
    /// <param name="options">The bucket; null: the defaults.</param>
    /// <exception cref="ArgumentException">An argument is null, or an option is not valid.</exception>
    public NatsServiceDirectory(ZlinkContext context, INatsConnection connection, NatsServiceOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        ArgumentNullException.ThrowIfNull(connection);
        _options = (options ?? new NatsServiceOptions()).ValidCopy();
        _connection = connection;
        _bucket = new LeaseBucket(connection, _options);
        _clock = context.TimeProvider;
        _logger = context.LoggerFactory.CreateLogger<NatsServiceDirectory>();
        _found = new StaticDirectory(_clock);
        _leases = new FollowedLeases(_found, _clock, _options.MaxInstances);
        _connection.ConnectionOpened += OnConnectedAsync;
        _following = Task.Run(FollowAsync);
    }

    /// <inheritdoc/>
    /// <exception cref="ArgumentNullException"><paramref name="service"/> is null.</exception>
    public ServiceSnapshot GetService(string service) => _found.GetService(service);

    /// <inheritdoc/>
    public IAsyncEnumerable<ServiceChange> WatchAsync(string? service = null, CancellationToken cancellationToken = default) =>
        _found.WatchAsync(service, cancellationToken);

    /// <summary>Ends the following and the enumerations. Those who follow the directory keep their last snapshot. Idempotent.</summary>
    /// <returns>Complete when the bucket is not read any more.</returns>
    public async ValueTask DisposeAsync()
    {
        _connection.ConnectionOpened -= OnConnectedAsync;
        await _end.CancelAsync().ConfigureAwait(false);
        await _following.ConfigureAwait(false);
        _found.Complete();
    }

    /// <summary>As <see cref="DisposeAsync"/>, and returns at once.</summary>
    public void Dispose() => _ = DisposeAsync().AsTask();

    // A restarted server has no watches, and maybe no bucket.
    private ValueTask OnConnectedAsync(object? sender, NatsEventArgs e)
    {
        try
        {
            Volatile.Read(ref _watch)?.Cancel();
        }
        catch (ObjectDisposedException)
        {
            // That watch has just ended.
        }

        return default;
    }

    private async Task FollowAsync()
    {
        bool hasFailed = false;
        while (!_end.IsCancellationRequested)
        {
            using var watch = CancellationTokenSource.CreateLinkedTokenSource(_end.Token);
            Volatile.Write(ref _watch, watch);
            try
            {
                (INatsKVStore store, TimeSpan lease) = await _bucket.OpenAsync(watch.Token).ConfigureAwait(false);
                if (hasFailed)
                {
                    NatsLog.ReadingWorksAgain(_logger, _options.Bucket);
                    _leases.Touch();
                }

                hasFailed = false;
                await WatchAsync(store, lease, watch).ConfigureAwait(false);
            }
            catch (Exception) when (_end.IsCancellationRequested)
            {
                return;
            }
            catch (OperationCanceledException) when (watch.IsCancellationRequested)
            {
                // To be begun anew.
            }
            catch (Exception e)
            {
                if (!hasFailed)
                {
                    NatsLog.ReadingFailed(_logger, e, _options.Bucket);
                }

                hasFailed = true;
                await Task.Delay(RetryInterval, _clock, watch.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    // One loop owns the entries.
    private async Task WatchAsync(INatsKVStore store, TimeSpan lease, CancellationTokenSource watch)
    {
        long started = _clock.GetTimestamp();
        IAsyncEnumerator<NatsKVEntry<byte[]>> updates = store.WatchAsync(NatsRawSerializer<byte[]>.Default,
            new NatsKVWatchOpts { IdleHeartbeat = lease }, watch.Token).GetAsyncEnumerator(watch.Token);
        Task<bool>? next = null;
        try
        {
            long checkedAt = started;
            while (_clock.GetElapsedTime(started) < lease * LeasesPerWatch)
            {
                watch.Token.ThrowIfCancellationRequested();
                next ??= updates.MoveNextAsync().AsTask();
                TimeSpan untilCheck = (lease / 3) - _clock.GetElapsedTime(checkedAt);
                if (untilCheck > TimeSpan.Zero)
                {
                    await ((Task)next).WaitAsync(untilCheck, _clock, watch.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                }

                if (next.IsCompleted)
                {
                    if (!await next.ConfigureAwait(false))
                    {
                        return;
                    }

                    Apply(updates.Current);
                    next = null;
                }
                else if (_clock.GetElapsedTime(checkedAt) >= lease / 3)
                {
                    checkedAt = _clock.GetTimestamp();
                    await CheckAsync(store, lease, watch.Token).ConfigureAwait(false);
                }
            }
        }
        finally
        {
            await watch.CancelAsync().ConfigureAwait(false);
            if (next is not null)
            {
                await ((Task)next).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }

            await updates.DisposeAsync().ConfigureAwait(false);
        }
    }

    private void Apply(NatsKVEntry<byte[]> update)
    {
        if (update.Operation != NatsKVOperation.Put)
        {
            _leases.Remove(update.Key);
        }
        else if (ServiceLease.Read(update.Key, update.Value ?? [], out string reason) is not { } instance)
        {
            Ignored(update.Key, reason);
        }
        else if (!_leases.TrySet(update.Key, instance))
        {
            Ignored(update.Key, $"the directory already has {_options.MaxInstances} entries");
        }
    }

    private void Ignored(string key, string why)
    {
        (string service, string endpoint) = ServiceLease.NamesOf(key);
        NatsLog.EntryIgnored(_logger, service, endpoint, _options.Bucket, why);
    }

    // The server drops an entry without a notice. An entry that it still has stays.
    private async Task CheckAsync(INatsKVStore store, TimeSpan lease, CancellationToken cancellation)
    {
        foreach (string key in _leases.OlderThan(lease))
        {
            NatsResult<NatsKVEntry<byte[]>> present = await store.TryGetEntryAsync(
                key, serializer: NatsRawSerializer<byte[]>.Default, cancellationToken: cancellation).ConfigureAwait(false);
            if (present.Success)
            {
                Apply(present.Value);
            }
            else if (present.Error is NatsKVKeyNotFoundException or NatsKVKeyDeletedException)
            {
                _leases.Remove(key);
            }
            else
            {
                throw present.Error; // The watch is begun anew.
            }
        }
    }
}
