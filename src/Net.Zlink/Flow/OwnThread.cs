namespace Net.Zlink.Flow;

/// <summary>Threads that are nobody else's, for what may sleep where it cannot be awaited: code of the application's, a look-up of a name.</summary>
internal static class OwnThread
{
    [ThreadStatic]
    private static bool t_isCurrent;

    /// <summary>The calling thread is one of these.</summary>
    public static bool IsCurrent => t_isCurrent;

    /// <summary>Runs <paramref name="work"/>, which must not throw, on a new one, in the default context. 0.1 ms. Where the system has no thread left it is the pool that runs it.</summary>
    /// <param name="work">What to do.</param>
    /// <param name="name">What a debugger calls the thread.</param>
    public static void Start(Action work, string name = "Net.Zlink callback")
    {
        var thread = new Thread(() =>
        {
            t_isCurrent = true;
            work();
        })
        {
            IsBackground = true,
            Name = name,
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
