using Microsoft.Extensions.Logging;
using Net.Zlink.Flow;

namespace Net.Zlink.Monitoring;

/// <summary>Hands a monitor's events to an application's callback: in order, one at a time, on the thread pool and never on a shard, each
/// in the <see cref="DefaultContext"/>.</summary>
internal sealed class EventCallback : IDisposable
{
    private readonly SocketMonitor _monitor;
    private readonly Action<SocketEvent> _handler;
    private readonly ILogger _logger;
    private volatile bool _isDisposed;

    public EventCallback(SocketMonitor monitor, Action<SocketEvent> handler, ILogger logger)
    {
        _monitor = monitor;
        _handler = handler;
        _logger = logger;
        _ = DefaultContext.Run(RunAsync);
    }

    /// <summary>No call begins after this; one that runs already may go on.</summary>
    public void Dispose()
    {
        _isDisposed = true;
        _monitor.Dispose();
    }

    private async Task RunAsync()
    {
        // Off the caller's stack, which may be a shard's. From here on the channel continues us on the pool, never on the publisher's
        // stack.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        await foreach (SocketEvent one in _monitor.ReadAllAsync().ConfigureAwait(false))
        {
            if (_isDisposed)
            {
                return;
            }

            Call(one);
        }
    }

    private void Call(in SocketEvent one)
    {
#pragma warning disable CA1031 // Whatever the callback throws is the application's mistake: it is logged, and the events go on.
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
            DefaultContext.Restore(); // What it has set is nothing to its next call, and must not stay alive until then.
        }
#pragma warning restore CA1031
    }
}
