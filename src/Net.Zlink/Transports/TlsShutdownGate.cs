namespace Net.Zlink.Transports;

/// <summary>
/// Lets an action run between the operations of a stream's one user. A close_notify beside a read on another thread destroyed the process's
/// heap about once in 27,000 times (docs/architecture.md, "How a connection ends").
/// </summary>
internal sealed class TlsShutdownGate
{
    private const int StateFree = 0;
    private const int Used = 1;
    private const int StateIdle = 2;

    private const int Requested = 4;

    private readonly Lock _gate = new();
    private int _state;
    private Func<Task>? _shutdownStep;
    private TaskCompletionSource? _shutdownStepDone;

    public void Enter() => Step(StateFree, Used);

    public void Leave() => Step(Used, StateFree);

    public void MarkIdle() => Step(Used, StateIdle);

    public void Resume() => Step(StateIdle, Used);

    /// <param name="action">It must be short, because the user may wait for it.</param>
    public Task RunAsync(Func<Task> action)
    {
        lock (_gate)
        {
            if ((Interlocked.Or(ref _state, Requested) & ~Requested) != Used)
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
        if ((Interlocked.CompareExchange(ref _state, to, from) & Requested) == 0)
        {
            return;
        }

        lock (_gate)
        {
            if (_state != (from | Requested))
            {
                return;
            }

            _state = to | Requested;
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
#pragma warning disable CA1031
        catch (Exception e)
#pragma warning restore CA1031
        {
            done.SetException(e);
            _ = done.Task.Exception;
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
