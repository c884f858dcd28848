namespace Net.Zlink.Transports;

/// <summary>What the one reader of a stream is doing, so that something that must not meet it at work is done between its reads, or while it waits for input. Thread-safe.</summary>
/// <remarks>
/// Made for the end of TLS: a library of C beneath takes its words of farewell and its reads from one object without a lock, and the runtime adds none. A farewell that met a read on another thread
/// destroyed the process's heap about once in 27,000 times (docs/architecture.md, "How a connection ends").
/// </remarks>
internal sealed class ReadActivity
{
    private readonly Lock _gate = new();
    private Func<Task>? _errand;
    private TaskCompletionSource? _errandDone;
    private bool _isReading;
    private bool _isWaiting;

    /// <summary>A read begins. Waits for an errand that is being run.</summary>
    public void Enter()
    {
        lock (_gate)
        {
            _isReading = true;
        }
    }

    /// <summary>The read is over.</summary>
    public void Leave()
    {
        lock (_gate)
        {
            _isReading = false;
            RunErrand();
        }
    }

    /// <summary>The reader comes to rest, until <see cref="Resume"/>: there is nothing to read.</summary>
    public void Rest()
    {
        lock (_gate)
        {
            _isWaiting = true;
            RunErrand();
        }
    }

    /// <summary>There is: the reader goes on when this returns. Waits for an errand that is being run.</summary>
    public void Resume()
    {
        lock (_gate)
        {
            _isWaiting = false;
        }
    }

    /// <summary>Runs something as soon as no reader is at work, at once if none is. One at a time.</summary>
    /// <param name="errand">Begins it, on the caller's thread or the reader's. Short: a reader may be waiting for it. What it begins may go on beside reads.</param>
    /// <returns>Ends as the errand's own task does. What <paramref name="errand"/> throws is thrown here, or ends the task.</returns>
    public Task RunAsync(Func<Task> errand)
    {
        lock (_gate)
        {
            if (!_isReading || _isWaiting)
            {
                return errand();
            }

            _errand = errand;
            _errandDone = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _errandDone.Task;
        }
    }

    private static async Task CompleteAsync(Func<Task> errand, TaskCompletionSource done)
    {
        try
        {
            await errand().ConfigureAwait(false);
            done.SetResult();
        }
#pragma warning disable CA1031 // Whatever it is, it belongs to who waits.
        catch (Exception e)
#pragma warning restore CA1031
        {
            done.SetException(e);
        }
    }

    private void RunErrand()
    {
        if (_errand is { } errand)
        {
            _errand = null;
            _ = CompleteAsync(errand, _errandDone!);
        }
    }
}
