using System.Buffers;

namespace Net.Zlink.Buffers;

/// <summary>Memory that the application handed over with a message.</summary>
internal static class DeferredDisposal
{
    [ThreadStatic]
    private static List<IMemoryOwner<byte>>? t_deferred;

    [ThreadStatic]
    private static int t_deferDepth;

    /// <summary>This thread is between <see cref="Defer"/> and <see cref="DisposeDeferred"/>: it holds a lock.</summary>
    public static bool IsDeferred => t_deferDepth > 0;

    /// <summary>Until <see cref="DisposeDeferred"/>, what this thread lets go of is kept: for those who hold a lock around code that also runs without one. Pairs may stand in one another.</summary>
    public static void Defer() => t_deferDepth++;

    /// <summary>Lets go of what was kept. Outside of every lock.</summary>
    public static void DisposeDeferred()
    {
        if (--t_deferDepth > 0 || t_deferred is not { } kept)
        {
            return;
        }

        // One by one: what a Dispose calls may bring more.
        while (kept.Count > 0)
        {
            IMemoryOwner<byte> last = kept[^1];
            kept.RemoveAt(kept.Count - 1);
            Dispose(last);
        }
    }

    /// <summary>Lets go of it. Never under a lock: this is the application's code.</summary>
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
            // A Dispose that throws breaks its own contract. Passed on, it would cut a connection's teardown in half and leave its socket open for ever.
        }
    }
}
