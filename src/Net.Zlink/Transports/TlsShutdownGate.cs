namespace Net.Zlink.Transports;

/// <summary>What the one user of one direction of a stream is doing, so that something that must not meet it at work is done in between, or
/// while it waits. Thread-safe.</summary>
/// <remarks>
/// Made for the end of TLS: a library of C beneath has its words of farewell, its reads and its writes work on one object without a lock,
/// and the runtime locks reads and writes alone. A farewell that met a read on another thread destroyed the process's heap about once in
/// 27,000 times (docs/architecture.md, "How a connection ends").
/// <para>Until somebody has an action, each step is one exchange, and one out of turn is none: a stream may rest that nobody said to use.
/// From then on, with the end near, the lock has all of it.</para>
/// </remarks>
internal sealed class TlsShutdownGate
{
    private const int StateFree = 0;
    private const int Used = 1;
    private const int StateIdle = 2;

    // Beside one of them, and for good: somebody has had an action.
    private const int Asked = 4;

    private readonly Lock _gate = new();
    private int _state;
    private Func<Task>? _shutdownStep;
    private TaskCompletionSource? _shutdownStepDone;

    /// <summary>A read, or a write, begins. Waits for an action that is being begun.</summary>
    public void Enter() => Step(StateFree, Used);

    /// <summary>It is over.</summary>
    public void Leave() => Step(Used, StateFree);

    /// <summary>The user comes to rest in the middle of it, until <see cref="Resume"/>: there is nothing to read.</summary>
    public void MarkIdle() => Step(Used, StateIdle);

    /// <summary>It goes on when this returns. Waits for an action that is being begun.</summary>
    public void Resume() => Step(StateIdle, Used);

    /// <summary>Begins something as soon as nobody is at work, at once if nobody is. One at a time.</summary>
    /// <param name="action">Begins it, on the caller's thread or the user's. Short: the user may be waiting for it. What it begins may go
    /// on beside the use.</param>
    /// <returns>Ends as the action's own task does. What <paramref name="action"/> throws is thrown here, or ends the task.</returns>
    public Task RunAsync(Func<Task> action)
    {
        lock (_gate)
        {
            if ((Interlocked.Or(ref _state, Asked) & ~Asked) != Used)
            {
                return action();
            }

            _shutdownStep = action;
            _shutdownStepDone = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _shutdownStepDone.Task;
        }
    }

    private void Step(int from, int to)
    {
        if ((Interlocked.CompareExchange(ref _state, to, from) & Asked) == 0)
        {
            return;
        }

        lock (_gate)
        {
            if (_state != (from | Asked))
            {
                return;
            }

            _state = to | Asked;
            if (to != Used)
            {
                BeginShutdownStep();
            }
        }
    }

    private static async Task CompleteAsync(Func<Task> action, TaskCompletionSource done)
    {
        try
        {
            await action().ConfigureAwait(false);
            done.SetResult();
        }
#pragma warning disable CA1031 // Whatever it is, it belongs to who waits.
        catch (Exception e)
#pragma warning restore CA1031
        {
            done.SetException(e);
            _ = done.Task.Exception; // Who asked may have given up waiting: then nobody wants to know.
        }
    }

    private void BeginShutdownStep()
    {
        if (_shutdownStep is { } action)
        {
            _shutdownStep = null;
            _ = CompleteAsync(action, _shutdownStepDone!);
        }
    }
}
