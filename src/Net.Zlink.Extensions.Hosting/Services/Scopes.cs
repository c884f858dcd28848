using Microsoft.Extensions.DependencyInjection;

namespace Net.Zlink.Extensions.Hosting;

internal static class Scopes
{
    public static async ValueTask<TReply> CallAsync<THandler, TRequest, TReply>(
        IServiceScopeFactory scopes, TRequest request, CancellationToken cancellation)
        where THandler : class, IRequestHandler<TRequest, TReply>
    {
        AsyncServiceScope scope = scopes.CreateAsyncScope();
        await using (scope.ConfigureAwait(false))
        {
            return await scope.ServiceProvider.GetRequiredService<THandler>().HandleAsync(request, cancellation).ConfigureAwait(false);
        }
    }

    public static async ValueTask CallAsync<THandler>(
        IServiceScopeFactory scopes, Net.Zlink.Services.ServiceRequest request, CancellationToken cancellation)
        where THandler : class, IServiceHandler
    {
        AsyncServiceScope scope = scopes.CreateAsyncScope();
        await using (scope.ConfigureAwait(false))
        {
            await scope.ServiceProvider.GetRequiredService<THandler>().HandleAsync(request, cancellation).ConfigureAwait(false);
        }
    }
}
