using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class PipeServing(
    StreamSocket socket, IServiceScopeFactory scopes, Func<IServiceProvider, StreamPipe, CancellationToken, Task> serve) : StreamServing
{
    private readonly ConcurrentDictionary<uint, Task> _open = new();
    private readonly CancellationTokenSource _stopping = new();

    public override string Bind(string endpoint) => socket.BindPipe(endpoint, ServeAsync);

    public override async Task DrainAsync(TimeSpan limit, TimeProvider clock, CancellationToken cancellation)
    {
        _ = _stopping.CancelAsync(); // Callbacks of the application run in it.
        Task all = Task.WhenAll(_open.Values);
        await all.WaitAsync(limit, clock, cancellation).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        cancellation.ThrowIfCancellationRequested();
    }

    private async Task ServeAsync(StreamPipe pipe)
    {
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _open[pipe.Id] = ended.Task;
        try
        {
            await using (pipe.ConfigureAwait(false))
            {
                AsyncServiceScope scope = scopes.CreateAsyncScope();
                await using (scope.ConfigureAwait(false))
                {
                    await serve(scope.ServiceProvider, pipe, _stopping.Token).ConfigureAwait(false);
                }
            }
        }
        finally
        {
            _open.TryRemove(pipe.Id, out _);
            ended.SetResult();
        }
    }
}
