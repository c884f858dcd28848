namespace Net.Zlink.Flow;

/// <summary>A pause that can be ended before its time. One at a time; waking is for any thread, and calls nobody.</summary>
internal sealed class WakeablePause
{
    private readonly Lock _gate = new();
    private CancellationTokenSource? _source;
    private bool _isWoken;

    /// <summary>Ends the pause that is on, or is about to begin.</summary>
    public void Wake()
    {
        lock (_gate)
        {
            _isWoken = true;
            _ = _source?.CancelAsync();
        }
    }

    /// <summary>Being woken before now does not count.</summary>
    public void Forget()
    {
        lock (_gate)
        {
            _isWoken = false;
        }
    }

    /// <summary>Waits until the pause is over, or it is woken.</summary>
    /// <param name="pause">Begins it; it ends with the token.</param>
    /// <param name="ended">Ends it with an exception.</param>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async Task RunAsync(Func<CancellationToken, Task> pause, CancellationToken ended)
    {
        using var source = CancellationTokenSource.CreateLinkedTokenSource(ended);
        lock (_gate)
        {
            if (_isWoken)
            {
                _isWoken = false;
                return;
            }

            _source = source;
        }

        try
        {
            await pause(source.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (!ended.IsCancellationRequested)
        {
            // It was woken.
        }
        finally
        {
            lock (_gate)
            {
                (_source, _isWoken) = (null, false);
            }
        }
    }
}
