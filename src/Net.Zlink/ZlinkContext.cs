using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Diagnostics.Metrics;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>Creates sockets, owns the shards and the buffer pool that they share, and ends them in order.</summary>
/// <remarks>Thread-safe. A process usually has one. Several are independent.</remarks>
/// <example>
/// <code>
/// await using var context = new ZlinkContext(new ZlinkContextOptions { LoggerFactory = loggers });
/// RouterSocket server = context.CreateRouter();
/// server.Bind("tcp://127.0.0.1:5555");
/// </code>
/// </example>
public sealed class ZlinkContext : IDisposable, IAsyncDisposable
{
    private readonly ZlinkContextOptions _options;
    private readonly Lock _gate = new();
    private readonly ZlinkMeters _meters;
    private Task<ShutdownReport>? _shutdown;

    /// <summary>The socket of its diagnostics, while they are open.</summary>
    internal StreamSocket? Diagnostics;

    /// <summary>Creates a context with the default options.</summary>
    public ZlinkContext()
        : this(new ZlinkContextOptions())
    {
    }

    /// <summary>Creates a context and fills its pool before it returns.</summary>
    /// <param name="options">The options. They are copied.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="ArgumentException">As for <see cref="ZlinkContextOptions.Validate"/>.</exception>
    /// <exception cref="ObjectDisposedException">Its <see cref="ZlinkContextOptions.Pool"/> is disposed.</exception>
    public ZlinkContext(ZlinkContextOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options = options.ValidCopy();
        _options = options;
        ILogger logger = options.LoggerFactory is { } factory ? new GuardedLogger(factory.CreateLogger(ZlinkLibrary.LogCategory))
            : NullLogger.Instance;
        Host = new EngineHost(options.ShardCount, options.Pool ?? new BufferPool(options.PoolOptions.ForQueuesOf(options.QueuedByteLimit)),
            options.TimeProvider, logger, new ShardWatch(this, logger), options.TlsAndWebSocketShardCount, options.MaxHandshakes)
        {
            Queued = ContextQuota.Of(options.QueuedByteLimit ?? 0, logger),
            Unfinished = FairLimit.Of(options.UnfinishedByteLimit ?? 0),
            Subscriptions = FairLimit.Of(options.SubscriptionByteLimit ?? 0)
        };
        Sockets = new ContextSockets(options.MaxSockets);
        _meters = new ZlinkMeters(Host, options, Sockets.SumByType, this);
    }

    /// <summary>The buffer pool of this context's sockets. Applications may rent from it too.</summary>
    public BufferPool Pool => Host.Pool;

    /// <summary>The clock of this context: <see cref="ZlinkContextOptions.TimeProvider"/>.</summary>
    public TimeProvider TimeProvider => _options.TimeProvider;

    /// <summary>
    /// The logger factory of this context: <see cref="ZlinkContextOptions.LoggerFactory"/>, or one whose loggers write nothing.
    /// </summary>
    public ILoggerFactory LoggerFactory => _options.LoggerFactory ?? NullLoggerFactory.Instance;

    /// <summary>The only meter of this context, with the instruments of its sockets and services: <see cref="ZlinkLibrary.MeterName"/>.
    /// It has the tag <c>zlink.context</c>. Do not dispose it: it ends with the context, or with its factory.</summary>
    public Meter Meter => _meters.Meter;

    /// <summary>How many names of a kind metrics show one by one: <see cref="ZlinkContextOptions.MaxMetricNames"/>.</summary>
    public int MaxMetricNames => _options.MaxMetricNames;

    internal string? Name => _options.Name;

    internal EngineHost Host { get; }

    internal ContextSockets Sockets { get; }

    internal InprocRegistry Inproc { get; } = new();

    /// <summary>Creates a STREAM socket.</summary>
    /// <param name="options">The options. The socket has a copy, which may be changed while it lives. Null: the defaults.</param>
    /// <returns>The socket, without an endpoint.</returns>
    /// <exception cref="ArgumentException">As for <see cref="SocketOptions.Validate"/>.</exception>
    /// <exception cref="ObjectDisposedException">The context is shut down.</exception>
    /// <exception cref="ZlinkException">TooManySockets: the context has <see cref="ZlinkContextOptions.MaxSockets"/>.</exception>
    public StreamSocket CreateStream(StreamOptions? options = null) =>
        Add(options ?? new StreamOptions(), static (context, own) => new StreamSocket(context.Host, own));

    /// <inheritdoc cref="CreateStream(StreamOptions)"/>
    /// <summary>Creates a PAIR socket.</summary>
    public PairSocket CreatePair(PairOptions? options = null) =>
        Add(options ?? new PairOptions(), static (context, own) => new PairSocket(context.Host, context.Inproc, own));

    /// <inheritdoc cref="CreateStream(StreamOptions)"/>
    /// <summary>Creates a DEALER socket.</summary>
    public DealerSocket CreateDealer(DealerOptions? options = null) =>
        Add(options ?? new DealerOptions(), static (context, own) => new DealerSocket(context.Host, context.Inproc, own));

    /// <inheritdoc cref="CreateStream(StreamOptions)"/>
    /// <summary>Creates a ROUTER socket.</summary>
    public RouterSocket CreateRouter(RouterOptions? options = null) =>
        Add(options ?? new RouterOptions(), static (context, own) => new RouterSocket(context.Host, context.Inproc, own));

    /// <inheritdoc cref="CreateStream(StreamOptions)"/>
    /// <summary>Creates a PUB socket.</summary>
    public PubSocket CreatePub(PubOptions? options = null) =>
        Add(options ?? new PubOptions(), static (context, own) => new PubSocket(context.Host, context.Inproc, own));

    /// <inheritdoc cref="CreateStream(StreamOptions)"/>
    /// <summary>Creates a SUB socket.</summary>
    public SubSocket CreateSub(SubOptions? options = null) =>
        Add(options ?? new SubOptions(), static (context, own) => new SubSocket(context.Host, context.Inproc, own));

    /// <inheritdoc cref="CreateStream(StreamOptions)"/>
    /// <summary>Creates an XPUB socket.</summary>
    public XPubSocket CreateXPub(XPubOptions? options = null) =>
        Add(options ?? new XPubOptions(), static (context, own) => new XPubSocket(context.Host, context.Inproc, own));

    /// <inheritdoc cref="CreateStream(StreamOptions)"/>
    /// <summary>Creates an XSUB socket.</summary>
    public XSubSocket CreateXSub(XSubOptions? options = null) =>
        Add(options ?? new XSubOptions(), static (context, own) => new XSubSocket(context.Host, context.Inproc, own));

    /// <summary>Counts bytes that the caller keeps of received messages in <see cref="ZlinkContextOptions.QueuedByteLimit"/>, as those in
    /// queues of sockets. Thread-safe.</summary>
    /// <param name="bytes">How many.</param>
    /// <returns>False: less is left, and nothing is counted. Without that limit always true.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="bytes"/> is negative.</exception>
    public bool TryReserveQueuedBytes(long bytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        return Host.Queued?.TryReserve(bytes) ?? true;
    }

    /// <summary>Ends what <see cref="TryReserveQueuedBytes"/> has counted.</summary>
    /// <param name="bytes">How many; of all calls together never more than were counted.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="bytes"/> is negative.</exception>
    public void ReleaseQueuedBytes(long bytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        Host.Queued?.GiveBack(bytes);
    }

    /// <summary>Returns the statistics of the shards and sockets.</summary>
    /// <returns>A snapshot, made at the call.</returns>
    public ContextStatistics GetStatistics() => new()
    {
        Shards = [.. Host.Shards.All.Select(static shard => new ShardStatistics(shard))],
        Sockets = Sockets.OpenSockets.Length,
        QueuedBytes = Host.Queued?.Used ?? 0,
        QueuesWaiting = Host.Queued?.Waiting ?? 0,
        UnfinishedBytes = Host.Unfinished?.Bytes ?? 0,
        SubscriptionBytes = Host.Subscriptions?.Bytes ?? 0,
        PoolRetainedBytes = Pool.GetStatistics().BytesKept,
        PoolRetainedByteLimit = Pool.RetainedByteLimit,
    };

    /// <summary>
    /// Ends every socket in order: nothing more is accepted or received, accepted messages are written, and connections are closed. At the
    /// deadline the rest is dropped and reported.
    /// </summary>
    /// <remarks>
    /// Idempotent: later calls return the first call's report, at its deadline. No socket can be created after the call. The sockets end on
    /// the thread pool, so a socket call right after this one may still succeed.
    /// </remarks>
    /// <param name="deadline">The longest time for deliveries. <see cref="Timeout.InfiniteTimeSpan"/>: no limit.</param>
    /// <param name="cancellationToken">Cancels the wait, not the shutdown.</param>
    /// <returns>
    /// What could not be delivered. Completes on the thread pool, at the latest shortly after the deadline: one second if a handler blocks
    /// a shard (<see cref="ShutdownReport.BlockedShards"/>), five if the thread pool is blocked.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="deadline"/> is negative and not infinite.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public Task<ShutdownReport> ShutdownAsync(TimeSpan deadline, CancellationToken cancellationToken = default)
    {
        deadline = OptionRange.Time(deadline, mayBeInfinite: true);
        lock (_gate)
        {
            _shutdown ??= DrainAsync(deadline);
        }

        return _shutdown.WaitAsync(cancellationToken);
    }

    /// <summary>Shuts down within <see cref="ZlinkContextOptions.ShutdownTimeout"/> and then releases the pool.</summary>
    /// <returns>
    /// A task that completes when every connection is closed, at the latest shortly after that time: see <see cref="ShutdownAsync"/>. The
    /// pool stays while a handler blocks a shard.
    /// </returns>
    public async ValueTask DisposeAsync() => await ShutdownAsync(_options.ShutdownTimeout).ConfigureAwait(false);

    /// <summary>
    /// As <see cref="DisposeAsync"/>, blocking. On a shard (in a handler) it only begins the shutdown, which needs the shard.
    /// </summary>
    [SuppressMessage("ApiDesign", "RS0030", Justification =
        "A synchronous Dispose has to block; Task.Wait lets the thread pool know, and a shard is never blocked.")]
    public void Dispose()
    {
        Task<ShutdownReport> shutdown = ShutdownAsync(_options.ShutdownTimeout);
        if (ShardLoop.Current is null)
        {
            // The shutdown has its own deadline. This one guards against a clock that stands still.
            TimeSpan guard = TimeSpan.FromSeconds(5);
            bool isBounded = _options.ShutdownTimeout != Timeout.InfiniteTimeSpan
                && _options.ShutdownTimeout <= OptionRange.LongestTime - guard;
            shutdown.Wait(isBounded ? _options.ShutdownTimeout + guard : Timeout.InfiniteTimeSpan);
        }
    }

    private TSocket Add<TSocket, TOptions>(TOptions options, Func<ZlinkContext, TOptions, TSocket> make)
        where TSocket : ZlinkSocket
        where TOptions : SocketOptions
    {
        options.Validate();
        TSocket socket = make(this, (TOptions)options.CopyFor(_options));
        socket.Start();
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_shutdown is not null, this);
            Sockets.Add(socket); // Under the lock: a shutdown either finds the socket, or prevents it.
            return socket;
        }
    }

    private async Task<ShutdownReport> DrainAsync(TimeSpan deadline)
    {
        // Leave the caller's stack, which holds the lock, and may be a shard.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        long started = Stopwatch.GetTimestamp();
        ZlinkSocket[] sockets = Sockets.OpenSockets;
        Inproc.Close();
        Host.OwnEndpoints.End();
        foreach (ZlinkSocket socket in sockets)
        {
            socket.BeginClose(DisconnectReason.ContextTerminated);
        }

        Task closed = Task.WhenAll(sockets.Select(static s => s.Parts.AllClosed));
        Task released = ReleaseAsync(closed);
        bool drained = true;
        IReadOnlyList<ShardLoop> held = [];
        await released.WaitAsync(deadline, _options.TimeProvider).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!released.IsCompleted)
        {
            drained = closed.IsCompleted;
            foreach (ZlinkSocket socket in sockets)
            {
                socket.Core.Abort();
            }

            held = await Host.Shards.AwaitAbortAsync(released).ConfigureAwait(false);
        }

        foreach (ZlinkSocket socket in sockets)
        {
            Sockets.Forget(socket);
        }

        ShutdownReport report = Sockets.Report;
        report.Drained = drained;
        report.Elapsed = Stopwatch.GetElapsedTime(started);
        report.BlockedShards = [.. held.Select(static shard => shard.Index)];
        _meters.Dispose();
        foreach (ShardLoop shard in held)
        {
            shard.RunningWork(out ShardWork? work);
            Log.ShardNotEnded(Host.Logger, shard.Index, work?.Describe() ?? "the thread pool, which does not run it,");
        }

        Task freed = FreeAsync(released);
        if (released.IsCompleted)
        {
            await freed.ConfigureAwait(false);
        }

        return report;
    }

    private async Task ReleaseAsync(Task closed)
    {
        await closed.ConfigureAwait(false);
        await Host.Shards.ReleaseAsync().ConfigureAwait(false);
    }

    private async Task FreeAsync(Task released)
    {
        await released.ConfigureAwait(false);
        Host.Dispose();
        if (_options.Pool is null)
        {
            Host.Pool.Dispose();
        }
    }

    private sealed class ShardWatch(ZlinkContext context, ILogger logger) : IShardObserver
    {
        public void OnSlowRun(ShardLoop shard, string work, TimeSpan elapsed)
        {
            Log.SlowRun(logger, shard.Index, elapsed.TotalMilliseconds, work);
            foreach (ZlinkSocket socket in context.Sockets.OpenSockets)
            {
                socket.Monitors.Publish(SocketEventTypes.SlowHandler, (long)elapsed.TotalMilliseconds, "", "", detail: work);
            }
        }

        public void OnBlockedRun(ShardLoop shard, string work, TimeSpan elapsed) =>
            Log.BlockedRun(logger, shard.Index, elapsed.TotalSeconds, work);

        public void OnLateRun(ShardLoop shard, TimeSpan delay) => Log.PoolStarved(logger, shard.Index, delay.TotalMilliseconds);
    }
}
