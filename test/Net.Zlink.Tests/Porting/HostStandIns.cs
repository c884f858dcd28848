using Microsoft.Extensions.DependencyInjection;

namespace Net.Zlink.Tests.Porting;

/// <summary>The shape of the class of this name in Microsoft.Extensions.Hosting, for snippets: the tests do without that package.</summary>
public abstract class BackgroundService : IDisposable
{
    private readonly CancellationTokenSource _stopping = new();
    private Task _running = Task.CompletedTask;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _running = ExecuteAsync(_stopping.Token);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _running.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    public void Dispose()
    {
        _stopping.Dispose();
        GC.SuppressFinalize(this);
    }

    protected abstract Task ExecuteAsync(CancellationToken stoppingToken);
}

internal static class HostStandIns
{
    public static void AddHostedService<T>(this IServiceCollection services)
        where T : BackgroundService => services.AddSingleton<T>();
}
