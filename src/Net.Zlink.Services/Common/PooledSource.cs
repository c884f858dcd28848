using System.Threading.Tasks.Sources;

namespace Net.Zlink.Services;

/// <summary>A value task that is completed once, read once, and then used again for another one. Continuations run on the thread
/// pool.</summary>
internal abstract class PooledSource<T> : IValueTaskSource<T>
{
    private ManualResetValueTaskSourceCore<T> _core = new() { RunContinuationsAsynchronously = true };

    /// <summary>For its caller. To be taken before anything can complete it.</summary>
    public ValueTask<T> Task => new(this, _core.Version);

    /// <summary>Once for each use; the caller may use this object again from then on.</summary>
    public void Complete(in T result) => _core.SetResult(result);

    /// <inheritdoc cref="Complete"/>
    public void Fail(Exception exception) => _core.SetException(exception);

    ValueTaskSourceStatus IValueTaskSource<T>.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<T>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    T IValueTaskSource<T>.GetResult(short token)
    {
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending)
        {
            throw new InvalidOperationException("The result was read before the task completed: await the task.");
        }

        BeforeRead();
        try
        {
            return _core.GetResult(token);
        }
        finally
        {
            _core.Reset();
            Recycle();
        }
    }

    /// <summary>The result is about to be read.</summary>
    protected virtual void BeforeRead()
    {
    }

    /// <summary>The result was read: nobody has the task any more.</summary>
    protected abstract void Recycle();
}
