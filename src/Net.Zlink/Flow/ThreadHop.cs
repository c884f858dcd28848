using System.Runtime.CompilerServices;

namespace Net.Zlink.Flow;

internal readonly struct ThreadHop : ICriticalNotifyCompletion
{
    private readonly Target _target;

    private ThreadHop(Target target) => _target = target;

    private enum Target
    {
        Nowhere,
        Pool,
        BackOfPool,
        OwnThread,
    }

    public static ThreadHop None => default;

    public static ThreadHop ToPool => new(Target.Pool);

    /// <summary>
    /// A thread takes what it queued by <see cref="ToPool"/> before anything else, so two floods that yield to it hold two threads for as
    /// long as they last.
    /// </summary>
    public static ThreadHop ToBackOfPool => new(Target.BackOfPool);

    public static ThreadHop ToOwnThread => new(Target.OwnThread);

    public bool IsCompleted => _target == Target.Nowhere;

    public ThreadHop GetAwaiter() => this;

    public void GetResult()
    {
    }

    public void OnCompleted(Action continuation) => UnsafeOnCompleted(continuation);

    public void UnsafeOnCompleted(Action continuation)
    {
        if (_target == Target.OwnThread)
        {
            OwnThread.Start(continuation);
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(static run => run(), continuation, preferLocal: _target == Target.Pool);
        }
    }
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
            ThreadPool.UnsafeQueueUserWorkItem(static run => run(), work, preferLocal: false);
        }
    }
}
