using Microsoft.Extensions.Logging;
using Net.Zlink.Flow;

namespace Net.Zlink.Monitoring;

internal sealed class EventCallback : IDisposable
{
    private readonly IAsyncEnumerator<SocketEvent> _events;
    private readonly Action<SocketEvent> _handler;
    private readonly ILogger _logger;
    private volatile bool _isDisposed;

    public EventCallback(IAsyncEnumerable<SocketEvent> events, Action<SocketEvent> handler, ILogger logger)
    {
        _events = events.GetAsyncEnumerator();
        _handler = handler;
        _logger = logger;
        _ = DefaultContext.Run(RunAsync);
    }

    public void Dispose()
    {
        _isDisposed = true;
        _ = _events.DisposeAsync().AsTask(); // Complete at once: see EventStream.
    }

    private async Task RunAsync()
    {
        // The caller's stack may be a shard's. After this yield the events continue on the pool, never on the publisher's stack.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        while (await _events.MoveNextAsync().ConfigureAwait(false) && !_isDisposed)
        {
            Call(_events.Current);
        }
    }

    private void Call(in SocketEvent one)
    {
#pragma warning disable CA1031 // An exception of the callback is an error of the application: it is logged, and the next events follow.
        try
        {
            _handler(one);
        }
        catch (Exception e)
        {
            Log.EventCallbackFailed(_logger, e, one.Type);
        }
        finally
        {
            DefaultContext.Restore(); // AsyncLocals that the callback has set must not reach its next call, nor stay alive until then.
        }
#pragma warning restore CA1031
    }
}
