namespace Net.Zlink.Transports;

/// <summary>
/// The state of the one user of one direction of a stream, so that an action can run between its operations or while it waits. Thread-safe.
/// </summary>
/// <remarks>
/// <para>
/// For the end of TLS: OpenSSL's close_notify, reads and writes use one object without a lock, and .NET locks reads and writes only. A
/// close_notify beside a read on another thread destroyed the process's heap about once in 27,000 times (docs/architecture.md, "How a
/// connection ends").
/// </para>
/// <para>
/// Without an action each step is one exchange, and a step out of order is ignored. From the first action on, near the end, the lock
/// protects all of it.
/// </para>
/// </remarks>
internal sealed class TlsShutdownGate
{
    private const int StateFree = 0;
    private const int Used = 1;
    private const int StateIdle = 2;

    // Set beside one of these states, for good: there was an action.
    private const int Asked = 4;

    private readonly Lock _gate = new();
    private int _state;
    private Func<Task>? _shutdownStep;
    private TaskCompletionSource? _shutdownStepDone;

    /// <summary>A read or write begins. Waits for an action that is being started.</summary>
    public void Enter() => Step(StateFree, Used);

    public void Leave() => Step(Used, StateFree);

    /// <summary>The user waits for input, until <see cref="Resume"/>.</summary>
    public void MarkIdle() => Step(Used, StateIdle);

    /// <summary>The wait is over. Waits for an action that is being started.</summary>
    public void Resume() => Step(StateIdle, Used);

    /// <summary>Starts an action as soon as no operation is in progress, possibly at once. One at a time.</summary>
    /// <param name="action">
    /// Starts the action on the caller's or the user's thread. It must be short, because the user may wait for it. What it starts may
    /// continue beside the use.
    /// </param>
    /// <returns>Ends as the action's task does. An exception of <paramref name="action"/> is thrown here, or fails the task.</returns>
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
#pragma warning disable CA1031 // Whatever it is, the waiting caller gets it.
        catch (Exception e)
#pragma warning restore CA1031
        {
            done.SetException(e);
            _ = done.Task.Exception; // The caller may have stopped waiting: the exception is then unobserved.
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
