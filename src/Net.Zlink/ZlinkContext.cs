using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>The home of sockets: it owns the shards and the buffer pool they share, and ends them all in order.</summary>
/// <remarks>Safe for any number of threads. One per process is usual; several do not disturb each other.</remarks>
public sealed class ZlinkContext : IDisposable, IAsyncDisposable
{
    private readonly ZlinkContextOptions _options;
    private readonly EngineHost _host;
    private readonly bool _ownsPool;
    private readonly Lock _gate = new();
    private readonly Lazy<Task<ShutdownReport>> _shutdown;
    private readonly ZlinkMeters _meters;
    private TimeSpan _deadline;
    private bool _closed;

    /// <summary>A context with the default settings.</summary>
    public ZlinkContext()
        : this(new ZlinkContextOptions())
    {
    }

    /// <summary>A context; warms its pool before it returns.</summary>
    /// <param name="options">The settings.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">Its <see cref="ZlinkContextOptions.Pool"/> is disposed.</exception>
    public ZlinkContext(ZlinkContextOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Pool?.ThrowIfDisposed();
        _options = options;
        _ownsPool = options.Pool is null;
        _deadline = options.ShutdownTimeout;
        ILogger logger = options.LoggerFactory is { } factory ? new GuardedLogger(factory.CreateLogger(ZlinkLibrary.LogCategory))
            : NullLogger.Instance;
        _host = new EngineHost(options.ShardCount, options.Pool ?? new BufferPool(options.PoolOptions), options.TimeProvider, logger,
            new ShardWatch(this, logger), options.TlsAndWebSocketShardCount,
            options.MaxHandshakes)
        {
            Budget = ByteBudget.Of(options.QueuedByteLimit ?? 0, logger),
            Unfinished = FairLimit.Of(options.UnfinishedByteLimit ?? 0),
            Subscriptions = FairLimit.Of(options.SubscriptionByteLimit ?? 0)
        };
        Sockets = new ContextSockets(options.MaxSockets);
        _meters = new ZlinkMeters(this);
        _shutdown = new Lazy<Task<ShutdownReport>>(DrainAsync);
    }

    /// <summary>The buffer pool of this context's sockets. Applications may rent from it too.</summary>
    public BufferPool Pool => _host.Pool;

    /// <summary>The clock of this context: <see cref="ZlinkContextOptions.TimeProvider"/>.</summary>
    public TimeProvider TimeProvider => _options.TimeProvider;

    /// <summary>Where this context logs: <see cref="ZlinkContextOptions.LoggerFactory"/>, or a factory of loggers that write
    /// nothing.</summary>
    public ILoggerFactory LoggerFactory => _options.LoggerFactory ?? NullLoggerFactory.Instance;

    internal ZlinkContextOptions Options => _options;

    internal EngineHost Host => _host;

    internal ContextSockets Sockets { get; }

    internal InprocRegistry Inproc { get; } = new();

    /// <summary>Makes a STREAM socket.</summary>
    /// <param name="options">Its options, for this socket alone; null for the defaults.</param>
    /// <returns>The socket; it has no endpoint yet.</returns>
    /// <exception cref="InvalidOperationException">The options are another socket's.</exception>
    /// <exception cref="ObjectDisposedException">The context is shut down.</exception>
    /// <exception cref="ZlinkException">TooManySockets: the context has <see cref="ZlinkContextOptions.MaxSockets"/>.</exception>
    public StreamSocket CreateStream(StreamOptions? options = null) =>
        Add(options ?? new StreamOptions(), static (context, own) => new StreamSocket(context, own));

    /// <summary>Makes a PAIR socket.</summary>
    /// <param name="options">Its options, for this socket alone; null for the defaults.</param>
    /// <returns>The socket; it has no endpoint yet.</returns>
    /// <exception cref="InvalidOperationException">The options are another socket's.</exception>
    /// <exception cref="ObjectDisposedException">The context is shut down.</exception>
    /// <exception cref="ZlinkException">TooManySockets: the context has <see cref="ZlinkContextOptions.MaxSockets"/>.</exception>
    public PairSocket CreatePair(PairOptions? options = null) =>
        Add(options ?? new PairOptions(), static (context, own) => new PairSocket(context, own));

    /// <summary>Makes a DEALER socket.</summary>
    /// <param name="options">Its options, for this socket alone; null for the defaults.</param>
    /// <returns>The socket; it has no endpoint yet.</returns>
    /// <exception cref="InvalidOperationException">The options are another socket's.</exception>
    /// <exception cref="ObjectDisposedException">The context is shut down.</exception>
    /// <exception cref="ZlinkException">TooManySockets: the context has <see cref="ZlinkContextOptions.MaxSockets"/>.</exception>
    public DealerSocket CreateDealer(DealerOptions? options = null) =>
        Add(options ?? new DealerOptions(), static (context, own) => new DealerSocket(context, own));

    /// <summary>Makes a ROUTER socket.</summary>
    /// <param name="options">Its options, for this socket alone; null for the defaults.</param>
    /// <returns>The socket; it has no endpoint yet.</returns>
    /// <exception cref="InvalidOperationException">The options are another socket's.</exception>
    /// <exception cref="ObjectDisposedException">The context is shut down.</exception>
    /// <exception cref="ZlinkException">TooManySockets: the context has <see cref="ZlinkContextOptions.MaxSockets"/>.</exception>
    public RouterSocket CreateRouter(RouterOptions? options = null) =>
        Add(options ?? new RouterOptions(), static (context, own) => new RouterSocket(context, own));

    /// <summary>Makes a PUB socket.</summary>
    /// <param name="options">Its options, for this socket alone; null for the defaults.</param>
    /// <returns>The socket; it has no endpoint yet.</returns>
    /// <exception cref="InvalidOperationException">The options are another socket's.</exception>
    /// <exception cref="ObjectDisposedException">The context is shut down.</exception>
    /// <exception cref="ZlinkException">TooManySockets: the context has <see cref="ZlinkContextOptions.MaxSockets"/>.</exception>
    public PubSocket CreatePub(PubOptions? options = null) =>
        Add(options ?? new PubOptions(), static (context, own) => new PubSocket(context, own));

    /// <summary>Makes a SUB socket.</summary>
    /// <param name="options">Its options, for this socket alone; null for the defaults.</param>
    /// <returns>The socket; it has no endpoint yet.</returns>
    /// <exception cref="InvalidOperationException">The options are another socket's.</exception>
    /// <exception cref="ObjectDisposedException">The context is shut down.</exception>
    /// <exception cref="ZlinkException">TooManySockets: the context has <see cref="ZlinkContextOptions.MaxSockets"/>.</exception>
    public SubSocket CreateSub(SubOptions? options = null) =>
        Add(options ?? new SubOptions(), static (context, own) => new SubSocket(context, own));

    /// <summary>Makes an XPUB socket.</summary>
    /// <param name="options">Its options, for this socket alone; null for the defaults.</param>
    /// <returns>The socket; it has no endpoint yet.</returns>
    /// <exception cref="InvalidOperationException">The options are another socket's.</exception>
    /// <exception cref="ObjectDisposedException">The context is shut down.</exception>
    /// <exception cref="ZlinkException">TooManySockets: the context has <see cref="ZlinkContextOptions.MaxSockets"/>.</exception>
    public XPubSocket CreateXPub(XPubOptions? options = null) =>
        Add(options ?? new XPubOptions(), static (context, own) => new XPubSocket(context, own));

    /// <summary>Makes an XSUB socket.</summary>
    /// <param name="options">Its options, for this socket alone; null for the defaults.</param>
    /// <returns>The socket; it has no endpoint yet.</returns>
    /// <exception cref="InvalidOperationException">The options are another socket's.</exception>
    /// <exception cref="ObjectDisposedException">The context is shut down.</exception>
    /// <exception cref="ZlinkException">TooManySockets: the context has <see cref="ZlinkContextOptions.MaxSockets"/>.</exception>
    public XSubSocket CreateXSub(XSubOptions? options = null) =>
        Add(options ?? new XSubOptions(), static (context, own) => new XSubSocket(context, own));

    /// <summary>What the shards and sockets have done so far: a snapshot, made at the call.</summary>
    /// <returns>The statistics.</returns>
    public ContextStatistics GetStatistics()
    {
        ShardStatistics[] shards = [.. _host.Shards.All.Select(ShardStatistics.Of)];
        return new ContextStatistics
        {
            Shards = shards,
            Sockets = Sockets.Count,
            QueuedBytes = _host.Budget?.Used ?? 0,
            QueuesWaiting = _host.Budget?.Waiting ?? 0,
            UnfinishedBytes = _host.Unfinished?.Bytes ?? 0,
            SubscriptionBytes = _host.Subscriptions?.Bytes ?? 0
        };
    }

    /// <summary>
    /// Ends every socket in order: no more is accepted or received, what Send accepted is written, connections end properly. At the
    /// deadline what is left is dropped and reported. Idempotent: later calls return the first one's report, at the first one's deadline.
    /// Nothing can be created from the call on; the sockets end on the thread pool, so what is called on one of them directly behind it may
    /// still succeed.
    /// </summary>
    /// <param name="deadline">How long delivering may take; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes.</param>
    /// <param name="cancellationToken">Ends the wait, not the shutdown.</param>
    /// <returns>
    /// What could not be delivered. Completes on the thread pool, at the latest shortly after the deadline: a second if a handler blocks a
    /// shard then (<see cref="ShutdownReport.BlockedShards"/>), five if the thread pool runs nothing.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="deadline"/> is negative and not infinite.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public Task<ShutdownReport> ShutdownAsync(TimeSpan deadline, CancellationToken cancellationToken = default)
    {
        deadline = OptionRange.Time(deadline, mayBeInfinite: true);
        lock (_gate)
        {
            if (!_closed)
            {
                _closed = true;
                _deadline = deadline;
            }
        }

        return _shutdown.Value.WaitAsync(cancellationToken);
    }

    /// <summary>Shuts down within <see cref="ZlinkContextOptions.ShutdownTimeout"/>, then lets go of the pool.</summary>
    /// <returns>A task that completes when every connection is closed, and at the latest shortly after that time: see
    /// <see cref="ShutdownAsync"/>. While a handler blocks a shard the pool is kept for it, until it returns.</returns>
    public async ValueTask DisposeAsync() => await ShutdownAsync(_options.ShutdownTimeout).ConfigureAwait(false);

    /// <summary>As <see cref="DisposeAsync"/>, blocking. Called on a shard (from a handler) it only begins the shutdown, because the shard
    /// has to carry it out.</summary>
    [SuppressMessage("ApiDesign", "RS0030", Justification =
        "A synchronous Dispose has to block; Task.Wait lets the thread pool know, and a shard is never blocked.")]
    public void Dispose()
    {
        Task<ShutdownReport> shutdown = ShutdownAsync(_options.ShutdownTimeout);
        if (ShardLoop.Current is null)
        {
            // The drain keeps its own deadline; this one only guards against waiting for ever on a clock that stands still.
            TimeSpan guard = TimeSpan.FromSeconds(5);
            bool isBounded = _options.ShutdownTimeout != Timeout.InfiniteTimeSpan
                && _options.ShutdownTimeout <= OptionRange.LongestTime - guard;
            shutdown.Wait(isBounded ? _options.ShutdownTimeout + guard : Timeout.InfiniteTimeSpan);
        }
    }

    /// <summary>Completes when no shard has runnable work.</summary>
    internal Task WhenIdleAsync() => _host.Shards.WhenIdleAsync();

    internal void Forget(IContextSocket socket) => Sockets.Forget(socket);

    private TSocket Add<TSocket, TOptions>(TOptions options, Func<ZlinkContext, TOptions, TSocket> make)
        where TSocket : IContextSocket
        where TOptions : SocketOptions
    {
        options.BelongTo(_options);
        try
        {
            return Add(make(this, options));
        }
        catch
        {
            options.BelongToNobody();
            throw;
        }
    }

    private TSocket Add<TSocket>(TSocket socket)
        where TSocket : IContextSocket
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_closed, this);
            Sockets.Add(socket); // Under the lock: the shutdown ends it, or it is not made.
            return socket;
        }
    }

    private async Task<ShutdownReport> DrainAsync()
    {
        // Off the caller's stack: it may be a shard, or hold a lock of its own.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        long started = Stopwatch.GetTimestamp();
        IContextSocket[] sockets = Sockets.OpenSockets;
        Inproc.Close();
        _host.OwnEndpoints.End();
        foreach (IContextSocket socket in sockets)
        {
            socket.BeginClose(DisconnectReason.ContextTerminated);
        }

        Task closed = Task.WhenAll(sockets.Select(static s => s.AllClosed));
        Task released = ReleaseAsync(closed);
        bool drained = true;
        IReadOnlyList<ShardLoop> held = [];
        if (!await released.EndsWithinAsync(_deadline, _options.TimeProvider).ConfigureAwait(false))
        {
            drained = closed.IsCompleted;
            foreach (IContextSocket socket in sockets)
            {
                socket.Abort();
            }

            held = await _host.Shards.AwaitAbortAsync(released).ConfigureAwait(false);
        }

        foreach (IContextSocket socket in sockets)
        {
            Forget(socket);
        }

        ShutdownReport report = Sockets.Undelivered.Report(
            drained, Stopwatch.GetElapsedTime(started), [.. held.Select(static shard => shard.Index)]);
        _meters.Dispose();
        foreach (ShardLoop shard in held)
        {
            shard.RunningWork(out ShardWork? work);
            Log.ShardNotEnded(_host.Logger, shard.Index, work?.Describe() ?? "the thread pool, which does not run it,");
        }

        Task freed = FreeAsync(released);
        if (released.IsCompleted)
        {
            await freed.ConfigureAwait(false);
        }

        return report;
    }

    /// <summary>Gives back what the shards hold, when there are no connections any more.</summary>
    private async Task ReleaseAsync(Task closed)
    {
        await closed.ConfigureAwait(false);
        await _host.Shards.ReleaseAsync().ConfigureAwait(false);
    }

    /// <summary>Frees what the shards use: none of it while one of them is held, however long that may be.</summary>
    private async Task FreeAsync(Task released)
    {
        await released.ConfigureAwait(false);
        _host.Dispose();
        if (_ownsPool)
        {
            _host.Pool.Dispose();
        }
    }

    /// <summary>Turns what shards notice about themselves into log lines and events.</summary>
    private sealed class ShardWatch(ZlinkContext context, ILogger logger) : IShardObserver
    {
        public void OnSlowRun(ShardLoop shard, string work, TimeSpan elapsed)
        {
            Log.SlowRun(logger, shard.Index, elapsed.TotalMilliseconds, work);
            foreach (IContextSocket socket in context.Sockets.OpenSockets)
            {
                socket.Monitors.Publish(SocketEventTypes.SlowHandler, (long)elapsed.TotalMilliseconds, "", "", detail: work);
            }
        }

        public void OnBlockedRun(ShardLoop shard, string work, TimeSpan elapsed) =>
            Log.BlockedRun(logger, shard.Index, elapsed.TotalSeconds, work);

        public void OnLateRun(ShardLoop shard, TimeSpan delay) => Log.PoolStarved(logger, shard.Index, delay.TotalMilliseconds);
    }
}
