using System.Runtime.CompilerServices;

namespace Net.Zlink.Flow;

/// <summary>To be awaited: where its caller goes on.</summary>
internal readonly struct ThreadHop : ICriticalNotifyCompletion
{
    private readonly Target _target;

    private ThreadHop(Target target) => _target = target;

    private enum Target
    {
        Nowhere,
        Pool,
        OwnThread,
    }

    /// <summary>Where it is.</summary>
    public static ThreadHop None => default;

    /// <summary>On the thread pool, and on another turn than this one.</summary>
    public static ThreadHop ToPool => new(Target.Pool);

    /// <summary>On a thread of its own: see <see cref="OwnThread"/>.</summary>
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
            ThreadPool.UnsafeQueueUserWorkItem(static run => run(), continuation, preferLocal: true);
        }
    }
}
