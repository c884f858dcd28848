using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

internal sealed class ShardCallback : ShardWork
{
    // Enough for each pipe of a busy process; more are left to the collector.
    private const int MaxKept = 1024;

    private static readonly ObjectCache<ShardCallback> Cache = new(MaxKept);
    private Action<object?>? _action;
    private object? _state;

    public static ShardCallback Rent(Action<object?> action, object? state)
    {
        ShardCallback callback = Cache.Rent();
        callback._action = action;
        callback._state = state;
        return callback;
    }

    internal override void Run(int reasons)
    {
        Action<object?> action = _action!;
        object? state = _state;
        _action = null;
        _state = null;
        Cache.Return(this);
        action(state);
    }

    internal override void OnFault(Exception exception)
    {
        // The pipe that scheduled the action observes its failure.
    }

    internal override string Describe() => "a callback of a pipe";
}
