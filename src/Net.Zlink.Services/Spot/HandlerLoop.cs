namespace Net.Zlink.Services;

/// <summary>Calls an application's handler for each message of one subscriber, one after another, on the thread pool: a handler that waits
/// fills its own queue and delays no other subscriber.</summary>
internal sealed class HandlerLoop : IAsyncDisposable
{
    // Set in the handler's flow: who disposes the loop there cannot wait for himself.
    private static readonly AsyncLocal<HandlerLoop?> s_current = new();

    private readonly SubscriberQueue _queue;
    private readonly Func<SpotMessage, CancellationToken, ValueTask> _handler;
    private readonly Action<Exception, string> _onFault;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _completion;

    /// <exception cref="InvalidOperationException">The queue has a handler, or a receive waits there.</exception>
    public HandlerLoop(SubscriberQueue queue, Func<SpotMessage, CancellationToken, ValueTask> handler, Action<Exception, string> onFault)
    {
        queue.BeginHandling();
        _queue = queue;
        _handler = handler;
        _onFault = onFault;
        _completion = Task.Run(RunAsync);
    }

    /// <summary>Calls the handler no more; waits for a call that is running, unless this is it.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        if (s_current.Value != this)
        {
            await _completion.ConfigureAwait(false);
        }
    }

    private async Task RunAsync()
    {
        s_current.Value = this;
        try
        {
            while (true)
            {
                using SpotMessage message = await _queue.ReceiveAsync(_stop.Token, isHandler: true).ConfigureAwait(false);
                await CallAsync(message).ConfigureAwait(false);
            }
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
        {
            // The application has disposed the handler, or the subscriber.
        }
        finally
        {
            _queue.EndHandling();
        }
    }

    private async ValueTask CallAsync(SpotMessage message)
    {
        try
        {
            await _handler(message, _stop.Token).ConfigureAwait(false);
        }
        catch (Exception) when (_stop.IsCancellationRequested)
        {
            // It was asked to end.
        }
        catch (Exception e)
        {
            _onFault(e, message.Topic); // A handler must not end because of one message.
        }
    }
}
