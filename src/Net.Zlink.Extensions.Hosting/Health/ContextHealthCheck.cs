using Microsoft.Extensions.Diagnostics.HealthChecks;
using Net.Zlink.Buffers;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Keeps the counters of the last look.</summary>
internal sealed class ContextHealthCheck : IHealthCheck
{
    // Fewer buffers say nothing: those of the first messages are allocated, whatever the pool does later.
    private const long LeastRented = 1000;

    private readonly HostedContext _context;
    private readonly ContextHealthOptions _options;
    private readonly Lock _gate = new();
    private (TimeSpan Delay, long Runs, long Rented, long Allocated) _last;

    public ContextHealthCheck(HostedContext context)
    {
        _context = context;
        _options = context.Registration.Health!;
    }

    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        ContextStatistics statistics = _context.Context.GetStatistics();
        BufferPoolStatistics pool = _context.Context.Pool.GetStatistics();
        (TimeSpan Delay, long Runs, long Rented, long Allocated) now = (
            TimeSpan.FromTicks(statistics.Shards.Sum(static shard => shard.TotalDelay.Ticks)),
            statistics.Shards.Sum(static shard => shard.RunsFromPool), pool.Rented, pool.Allocated);
        (TimeSpan Delay, long Runs, long Rented, long Allocated) last;
        lock (_gate)
        {
            last = _last;
            _last = now;
        }

        long runs = now.Runs - last.Runs;
        long rented = now.Rented - last.Rented;
        var findings = new HealthFindings();
        findings.AtMost("shard delay (ms)", runs == 0 ? 0 : (now.Delay - last.Delay).TotalMilliseconds / runs, _options.ShardDelay);
        findings.AtMost("pool misses", rented < LeastRented ? 0 : (double)(now.Allocated - last.Allocated) / rented, _options.PoolMisses);
        if (_context.Options.QueuedByteLimit is { } limit)
        {
            findings.AtMost("queued bytes", (double)statistics.QueuedBytes / limit, _options.QueuedBytes);
        }

        return Task.FromResult(findings.Result($"{statistics.Sockets} sockets"));
    }
}
