using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class ScopedStreamHandler<THandler>(IServiceScopeFactory scopes, ILogger logger) : StreamHandler
    where THandler : StreamHandler
{
    private readonly ConcurrentDictionary<StreamPeer, (AsyncServiceScope Scope, THandler Handler)> _handlers = new();

    public override void OnConnected(StreamPeer peer)
    {
        AsyncServiceScope scope = scopes.CreateAsyncScope();
        try
        {
            THandler handler = scope.ServiceProvider.GetRequiredService<THandler>();
            _handlers[peer] = (scope, handler);
            handler.OnConnected(peer);
        }
        catch
        {
            if (!_handlers.ContainsKey(peer))
            {
                scope.Dispose();
            }

            throw;
        }
    }

    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames) =>
        _handlers[peer].Handler.OnReceivedAsync(peer, frames);

    public override void OnDisconnected(StreamPeer peer, DisconnectReason reason)
    {
        if (!_handlers.TryRemove(peer, out (AsyncServiceScope Scope, THandler Handler) held))
        {
            return;
        }

        try
        {
            held.Handler.OnDisconnected(peer, reason);
        }
        finally
        {
            _ = EndAsync(held.Scope);
        }
    }

    private async Task EndAsync(AsyncServiceScope scope)
    {
        try
        {
            await scope.DisposeAsync().ConfigureAwait(false);
        }
        catch (Exception e)
        {
            HostingLog.ScopeFailed(logger, e, typeof(THandler).Name);
        }
    }
}
