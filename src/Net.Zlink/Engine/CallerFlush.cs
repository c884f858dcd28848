using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>
/// Remembers, per thread, the shard of its last scheduled flush, so that the thread can run that flush at its next call. A consumer that
/// replies comes back at once and then writes its replies itself, in one burst per peer. The flush is always scheduled too, so nothing is
/// late if the thread never calls again.
/// </summary>
internal static class CallerFlush
{
    // Weak: a thread that never calls again would otherwise keep that shard's whole context alive.
    [ThreadStatic]
    private static WeakReference<ShardLoop>? t_shard;

    [ThreadStatic]
    private static bool t_receives;

    public static void Record(ShardLoop shard)
    {
        WeakReference<ShardLoop>? earlier = t_shard;
        if (!ReferenceEquals(earlier, shard.Weak))
        {
            t_shard = ShardLoop.Current is null ? shard.Weak : null;
            if (t_receives && !DeferredDisposal.IsDeferred)
            {
                // Never under a lock, since a flush takes other sockets' locks.
                FlushOnThisThread(earlier);
            }
        }
    }

    public static void Run()
    {
        t_receives = true;
        RunBeforeBlocking();
    }

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
