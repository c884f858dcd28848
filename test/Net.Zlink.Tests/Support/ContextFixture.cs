using System.Collections.Concurrent;
using System.Globalization;
using Microsoft.Extensions.Logging;
using Net.Zlink.Buffers;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>One test's context, with a pool that knows who rented what: disposal fails the test if a buffer did not come back, or queues
/// that are gone hold some of the context's limit.</summary>
internal class ContextFixture : IAsyncDisposable
{
    private readonly ConcurrentBag<IDisposable> _others = [];
    private Pacer? _pacer;

    public ContextFixture(int shards = 2, TimeProvider? time = null, TimeSpan? shutdownTimeout = null, int? furtherShards = null,
        ILoggerFactory? log = null, long? queuedByteLimit = null, long? unfinishedByteLimit = null, long? subscriptionByteLimit = null)
    {
        // Nothing is warmed: most tests need a handful of buffers, and a pool per test would otherwise touch megabytes each time.
        Pool = new BufferPool(new BufferPoolOptions
        {
            ClassPolicies = BufferPoolOptions.PerClass(static _ => new BufferClassPolicy { KeepLimit = 64 }),
            LeakCheck = true,
        });
        Context = new ZlinkContext(new ZlinkContextOptions
        {
            ShardCount = shards,
            TlsAndWebSocketShardCount = furtherShards ?? new ZlinkContextOptions().TlsAndWebSocketShardCount,
            TimeProvider = time ?? TimeProvider.System,
            Pool = Pool,
            ShutdownTimeout = shutdownTimeout ?? Guard.Limit,
            LoggerFactory = log,
            QueuedByteLimit = queuedByteLimit ?? new ZlinkContextOptions().QueuedByteLimit,
            UnfinishedByteLimit = unfinishedByteLimit ?? new ZlinkContextOptions().UnfinishedByteLimit,
            SubscriptionByteLimit = subscriptionByteLimit ?? new ZlinkContextOptions().SubscriptionByteLimit,
        });
    }

    public BufferPool Pool { get; }

    public ZlinkContext Context { get; }

    /// <summary>A raw connection to an endpoint; ended with the fixture at the latest.</summary>
    public async Task<RawPeer> ConnectAsync(string endpoint, int receiveBuffer = 0) =>
        Own(await RawPeer.ConnectAsync(endpoint, receiveBuffer));

    public RawListener Listen() => Own(new RawListener());

    /// <summary>Disposes something before the context, whose orderly end waits for the other ends.</summary>
    public T Own<T>(T other)
        where T : IDisposable
    {
        _others.Add(other);
        return other;
    }

    /// <summary>Waits for what the library counts but does not announce. Yields to the shards between looks; never sleeps.</summary>
    public async Task UntilAsync(Func<bool> condition)
    {
        long started = TimeProvider.System.GetTimestamp();
        while (!condition())
        {
            if (TimeProvider.System.GetElapsedTime(started) >= Guard.Limit)
            {
                // Said only here: telling who rented thousands of buffers takes longer than what is waited for.
                Assert.Fail($"what the test waits for did not come; out are {Describe(Pool.GetOutstanding())}");
            }

            Guard.Token.ThrowIfCancellationRequested();
            await Context.WhenIdleAsync().Guarded();
            await Task.Yield();
        }
    }

    /// <summary>
    /// Completes when the shards have dealt with whatever the system had to report when it was called. A report takes its way through the
    /// runtime's
    /// thread that watches sockets; a message of our own that goes the same way comes out behind it. What stood in the thread pool's queue
    /// by then has begun, too: pool threads
    /// prefer what they themselves made ready, so a test that steps a clock fast enough would leave the rest behind for as long as it goes
    /// on.
    /// </summary>
    public async Task SettleAsync()
    {
        _pacer ??= await Pacer.CreateAsync();
        for (int round = 0; round < 2; round++)
        {
            await _pacer.RoundTripAsync();
            await Context.WhenIdleAsync().Guarded();
            await Task.Factory.StartNew(static () => { }, Guard.Token, TaskCreationOptions.PreferFairness, TaskScheduler.Default).Guarded();
        }
    }

    public async ValueTask DisposeAsync()
    {
        _pacer?.Dispose();
        foreach (IDisposable other in _others)
        {
            other.Dispose();
        }

        await Context.DisposeAsync().Guarded();

        // A send that was pending when its connection was cut off gives its buffer back when the system is done with it, a moment later.
        long started = TimeProvider.System.GetTimestamp();
        while (Pool.GetOutstanding().Count > 0 && TimeProvider.System.GetElapsedTime(started) < TimeSpan.FromSeconds(5))
        {
            await Task.Yield();
        }

        IReadOnlyList<BufferLeak> leaks = Pool.GetOutstanding();
        Pool.Dispose();
        ContextStatistics counters = Context.GetStatistics();
        Assert.Equal((0, 0, 0, 0), (counters.QueuedBytes, counters.QueuesWaiting, counters.UnfinishedBytes, counters.SubscriptionBytes));
        Assert.True(leaks.Count == 0, $"did not come back: {Describe(leaks)}");
    }

    private static string Describe(IReadOnlyList<BufferLeak> leaks) => leaks.Count == 0
        ? "no buffers"
        : string.Create(CultureInfo.InvariantCulture,
            $"{leaks.Count} buffers, the first of {leaks[0].Length} bytes, rented by\n{leaks[0].RentedBy}");
}
