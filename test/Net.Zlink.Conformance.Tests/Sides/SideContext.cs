using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Sides;

/// <summary>The context of a side, with a pool that knows who rented what.</summary>
internal sealed class SideContext : IAsyncDisposable
{
    // Two, so that what crosses shards does so here, whatever the machine.
    private const int Shards = 2;

    private readonly ShardTurns? _turns;

    public SideContext(SideRequest request)
    {
        // Nothing is warmed: thousands of runs need a handful of buffers each.
        Pool = new BufferPool(new BufferPoolOptions
        {
            ClassPolicies = BufferPoolOptions.PerClass(static _ => new BufferClassPolicy { KeepLimit = 64 }),
            LeakCheck = true,
        });
        Context = new ZlinkContext(new ZlinkContextOptions { ShardCount = Shards, TimeProvider = request.Time, Pool = Pool });
        _turns = request.InMemory ? new ShardTurns(Context) : null;
    }

    public BufferPool Pool { get; }

    public ZlinkContext Context { get; }

    /// <inheritdoc cref="IImplementedSide.WhenIdleAsync"/>
    public Task WhenIdleAsync()
    {
        if (_turns is null)
        {
            return Context.WhenIdleAsync();
        }

        _turns.Run();
        return Task.CompletedTask;
    }

    public IReadOnlyList<string> GetOutstandingBuffers()
    {
        string[] outstanding = [.. Pool.GetOutstanding().Select(leak => $"{leak.Length} bytes rented by {leak.RentedBy}")];
        Pool.Dispose();
        return outstanding;
    }

    public async ValueTask DisposeAsync()
    {
        _turns?.Dispose();
        await Context.DisposeAsync();
    }
}
