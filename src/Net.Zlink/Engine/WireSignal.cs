using System.Threading.Tasks.Sources;

namespace Net.Zlink.Engine;

/// <summary>Per round: begin the operation, await <see cref="WaitAsync"/>; one waiter, one setter.</summary>
internal sealed class WireSignal : IValueTaskSource
{
    private ManualResetValueTaskSourceCore<bool> _core;

    public void Set() => _core.SetResult(true);

    public ValueTask WaitAsync() => new(this, _core.Version);

    void IValueTaskSource.GetResult(short token)
    {
        _core.GetResult(token);
        _core.Reset();
    }

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
