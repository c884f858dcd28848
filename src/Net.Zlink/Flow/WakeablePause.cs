namespace Net.Zlink.Flow;

internal sealed class WakeablePause
{
    private readonly Lock _gate = new();
    private CancellationTokenSource? _source;
    private bool _isWoken;

    public void Wake()
    {
        lock (_gate)
        {
            _isWoken = true;
            _ = _source?.CancelAsync();
        }
    }

    public void Forget()
    {
        lock (_gate)
        {
            _isWoken = false;
        }
    }

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
