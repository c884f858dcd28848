using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>Remembers, per thread, the shard that it last scheduled a flush on, so that it can help with it at its next call.</summary>
/// <remarks>
/// The flush is always scheduled as well: nothing is late if the thread never calls again. A consumer that answers what it receives comes back at once, and then
/// writes its answers itself, in one burst per peer, instead of waiting for the pool. A thread that only sends has nothing to gain: the longer its peers' bursts grow before a shard writes them, the fewer they are.
/// </remarks>
internal static class CallerFlush
{
    // Weakly: a thread that never calls again would otherwise keep the whole context of that shard, disposed or not, for as long as it lives.
    [ThreadStatic]
    private static WeakReference<ShardLoop>? t_shard;

    [ThreadStatic]
    private static bool t_receives;

    /// <summary>A flush was scheduled on <paramref name="shard"/> by this thread.</summary>
    public static void Record(ShardLoop shard)
    {
        WeakReference<ShardLoop>? earlier = t_shard;
        if (!ReferenceEquals(earlier, shard.Weak))
        {
            t_shard = ShardLoop.Current is null ? shard.Weak : null;
            if (t_receives && !DeferredDisposal.IsDeferred)
            {
                FlushOnThisThread(earlier); // Never under a lock: what a flush makes room for takes other sockets' (the earlier shard has its own turn for it).
            }
        }
    }

    /// <summary>The thread is about to receive, and perhaps to wait: what it owes is written now.</summary>
    public static void Run()
    {
        t_receives = true;
        RunBeforeBlocking();
    }

    /// <summary>The thread is about to block in a send: what it owes is written now.</summary>
    public static void RunBeforeBlocking()
    {
        WeakReference<ShardLoop>? shard = t_shard;
        if (shard is not null)
        {
            t_shard = null;
            FlushOnThisThread(shard);
        }
    }

    private static void FlushOnThisThread(WeakReference<ShardLoop>? shard)
    {
        if (shard is not null && shard.TryGetTarget(out ShardLoop? living))
        {
            living.Help();
        }
    }
}
