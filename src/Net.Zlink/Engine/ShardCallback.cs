using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>A pooled one-shot work, so that a <see cref="ShardLoop"/> serves as the scheduler of pipes without allocating.</summary>
internal sealed class ShardCallback : ShardWork
{
    // Enough for every pipe of a busy process to have one on its way; more are simply left to the collector.
    private const int MaxKept = 1024;

    private static readonly ObjectCache<ShardCallback> Spares = new(MaxKept);
    private Action<object?>? _action;
    private object? _state;

    public static ShardCallback Rent(Action<object?> action, object? state)
    {
        if (!Spares.TryRent(out ShardCallback? callback))
        {
            callback = new ShardCallback();
        }

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
        Spares.Return(this);
        action(state);
    }

    internal override void OnFault(Exception exception)
    {
        // The pipe that scheduled the action observes its own failure; the shard goes on.
    }

    internal override string Describe() => "scheduled callback";
}
