using System.Runtime.CompilerServices;

namespace Net.Zlink.Flow;

/// <summary>Await it to continue on another thread.</summary>
internal readonly struct ThreadHop : ICriticalNotifyCompletion
{
    private readonly Action<Action>? _start;

    private ThreadHop(Action<Action> start) => _start = start;

    public static ThreadHop None => default;

    public static ThreadHop ToPool => new(static continuation => Queue(continuation, preferLocal: true));

    /// <summary>
    /// A thread takes what it queued by <see cref="ToPool"/> before anything else, so two floods that yield to it hold two threads for as
    /// long as they last.
    /// </summary>
    public static ThreadHop ToBackOfPool => new(static continuation => Queue(continuation, preferLocal: false));

    public static ThreadHop ToOwnThread => new(OwnThread.Start);

    public bool IsCompleted => _start is null;

    public ThreadHop GetAwaiter() => this;

    public void GetResult()
    {
    }

    public void OnCompleted(Action continuation) => UnsafeOnCompleted(continuation);

    public void UnsafeOnCompleted(Action continuation) => _start!(continuation);

    internal static void Queue(Action work, bool preferLocal) =>
        ThreadPool.UnsafeQueueUserWorkItem(static run => run(), work, preferLocal);
}

internal static class OwnThread
{
    [ThreadStatic]
    private static bool t_isCurrent;

    public static bool IsCurrent => t_isCurrent;

    /// <summary>
    /// Runs <paramref name="work"/>, which must not throw, on a new thread in the default context (0.1 ms). If no thread is available, the
    /// thread pool runs it.
    /// </summary>
    public static void Start(Action work)
    {
        var thread = new Thread(() =>
        {
            t_isCurrent = true;
            work();
        })
        {
            IsBackground = true,
            Name = "Net.Zlink",
        };
        try
        {
            thread.UnsafeStart();
        }
        catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
        {
            ThreadHop.Queue(work, preferLocal: false);
        }
    }
}
