namespace Net.Zlink.Flow;

/// <summary>A pause that any thread can end early. One pause at a time.</summary>
internal sealed class WakeablePause
{
    private readonly Lock _gate = new();
    private CancellationTokenSource? _source;
    private bool _isWoken;

    /// <summary>Ends the current pause, or the next one.</summary>
    public void Wake()
    {
        lock (_gate)
        {
            _isWoken = true;
            _ = _source?.CancelAsync();
        }
    }

    /// <summary>Forgets a call of <see cref="Wake"/> that no pause has used.</summary>
    public void Forget()
    {
        lock (_gate)
        {
            _isWoken = false;
        }
    }

    /// <param name="pause">Runs the pause until the token is cancelled.</param>
    /// <param name="ended">Ends the pause with an exception.</param>
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
            // Woken.
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
