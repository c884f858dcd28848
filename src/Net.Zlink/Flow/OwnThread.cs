namespace Net.Zlink.Flow;

/// <summary>Threads that are nobody else's, for code of the application's that may sleep where it cannot be awaited.</summary>
internal static class OwnThread
{
    [ThreadStatic]
    private static bool t_isCurrent;

    /// <summary>The calling thread is one of these.</summary>
    public static bool IsCurrent => t_isCurrent;

    /// <summary>Runs <paramref name="work"/>, which must not throw, on a new one, in the default context. 0.1 ms. Where the system has no thread left it is the pool that runs it.</summary>
    public static void Start(Action work)
    {
        var thread = new Thread(() =>
        {
            t_isCurrent = true;
            work();
        })
        {
            IsBackground = true,
            Name = "Net.Zlink callback",
        };
        try
        {
            thread.UnsafeStart();
        }
        catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static run => run(), work, preferLocal: false);
        }
    }
}
