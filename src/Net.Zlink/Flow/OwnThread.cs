namespace Net.Zlink.Flow;

internal static class OwnThread
{
    [ThreadStatic]
    private static bool t_isCurrent;

    public static bool IsCurrent => t_isCurrent;

    /// <summary>
    /// Runs <paramref name="work"/>, which must not throw, on a new thread in the default context (0.1 ms). If no thread is available, the
    /// thread pool runs it.
    /// </summary>
    /// <remarks><paramref name="name"/>: shown by debuggers.</remarks>
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
