using System.Threading.Tasks.Sources;

namespace Net.Zlink.Engine;

/// <summary>
/// A completion for repeated awaits without allocation. Per round: begin the operation, await <see cref="WaitAsync"/>; one waiter, one
/// setter.
/// </summary>
internal sealed class WireSignal : IValueTaskSource
{
    private ManualResetValueTaskSourceCore<bool> _core;

    /// <summary>Any thread, once per round. The continuation runs on it.</summary>
    public void Set() => _core.SetResult(true);

    /// <summary><see cref="Set"/> may have been called before. Once per round.</summary>
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
