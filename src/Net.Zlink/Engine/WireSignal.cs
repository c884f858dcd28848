using System.Threading.Tasks.Sources;

namespace Net.Zlink.Engine;

/// <summary>A completion that is awaited again and again without an allocation: begin the operation, await <see cref="WaitAsync"/>, begin the next. One waiter, one setter per round.</summary>
internal sealed class WireSignal : IValueTaskSource
{
    private ManualResetValueTaskSourceCore<bool> _core;

    /// <summary>The operation is over. Any thread, once per round; whoever waits goes on on this thread.</summary>
    public void Set() => _core.SetResult(true);

    /// <summary>Waits for <see cref="Set"/>, which may have come already. Once per round.</summary>
    public ValueTask WaitAsync() => new(this, _core.Version);

    void IValueTaskSource.GetResult(short token)
    {
        _core.GetResult(token);
        _core.Reset();
    }

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) => _core.OnCompleted(continuation, state, token, flags);
}
