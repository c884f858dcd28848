using System.Collections.Concurrent;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.DependencyInjection;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class ConnectionServing<THandler>(StreamSocket socket, IServiceScopeFactory scopes) : StreamServing
    where THandler : ConnectionHandler
{
    private readonly ConcurrentDictionary<uint, (StreamConnection Connection, Task Ended)> _open = new();

    public override string Bind(string endpoint) => socket.BindPipe(endpoint, ServeAsync);

    public override async Task DrainAsync(TimeSpan limit, TimeProvider clock, CancellationToken cancellation)
    {
        foreach ((StreamConnection connection, _) in _open.Values)
        {
            connection.RequestClose();
        }

        Task all = Task.WhenAll(_open.Values.Select(static one => one.Ended));
        await all.WaitAsync(limit, clock, cancellation).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        cancellation.ThrowIfCancellationRequested();
    }

    private async Task ServeAsync(StreamPipe pipe)
    {
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var connection = new StreamConnection(socket, pipe);
        _open[pipe.Id] = (connection, ended.Task);
        AsyncServiceScope scope = scopes.CreateAsyncScope();
        try
        {
            await scope.ServiceProvider.GetRequiredService<THandler>().OnConnectedAsync(connection).ConfigureAwait(false);
        }
        finally
        {
            await scope.DisposeAsync().ConfigureAwait(false);
            await connection.DisposeAsync().ConfigureAwait(false);
            _open.TryRemove(pipe.Id, out _);
            ended.SetResult();
        }
    }
}
