using System.Buffers;

namespace Net.Zlink.Buffers;

/// <summary>Disposes donated memory outside locks: an owner's Dispose is application code.</summary>
internal static class DeferredDisposal
{
    [ThreadStatic]
    private static List<IMemoryOwner<byte>>? t_deferred;

    [ThreadStatic]
    private static int t_deferDepth;

    public static bool IsDeferred => t_deferDepth > 0;

    /// <summary>
    /// Defers this thread's disposals until <see cref="DisposeDeferred"/>, for a lock around code that also runs without one. Pairs may
    /// nest.
    /// </summary>
    public static void Defer() => t_deferDepth++;

    /// <summary>Call it outside every lock.</summary>
    public static void DisposeDeferred()
    {
        if (--t_deferDepth > 0 || t_deferred is not { } deferred)
        {
            return;
        }

        // One by one, since a Dispose may add more.
        while (deferred.Count > 0)
        {
            IMemoryOwner<byte> last = deferred[^1];
            deferred.RemoveAt(deferred.Count - 1);
            Dispose(last);
        }
    }

    public static void Dispose(IMemoryOwner<byte> owner)
    {
        if (t_deferDepth > 0)
        {
            (t_deferred ??= []).Add(owner);
            return;
        }

        try
        {
            owner.Dispose();
        }
        catch (Exception)
        {
            // A Dispose that throws breaks its contract: passed on, the exception would leave a connection's socket open.
        }
    }
}
