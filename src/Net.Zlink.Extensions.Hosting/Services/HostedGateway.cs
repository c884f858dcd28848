using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Ends behind the application's services, which use it.</summary>
/// <param name="name">The key of the gateway.</param>
/// <param name="gateway">The gateway.</param>
/// <param name="found">Its own directory and where that finds receivers; null: the application's directory.</param>
internal sealed class HostedGateway(string name, ServiceGateway gateway, OwnDirectory? found) : HostedPart
{
    public override string Description => $"Gateway \"{name}\"";

    public ServiceGateway Gateway => gateway;

    public override void Connect() => found?.Connect(Description);

    public override async ValueTask EndAsync()
    {
        await gateway.DisposeAsync().ConfigureAwait(false);
        if (found is not null)
        {
            await found.DisposeAsync().ConfigureAwait(false);
        }
    }
}

/// <summary>A directory that lists nobody before all parts of the host are bound.</summary>
internal sealed class OwnDirectory(ZlinkContext context, IReadOnlyList<string> registries, IReadOnlyList<ServiceInstance> instances)
    : IAsyncDisposable
{
    private readonly RegistryDirectory? _discovery = registries.Count > 0 ? new RegistryDirectory(context) : null;
    private readonly StaticDirectory _known = new(context.TimeProvider);

    public IServiceDirectory Directory => _discovery is null ? _known : _discovery;

    public void Connect(string part)
    {
        foreach (string registry in registries)
        {
            SocketDrain.Named(part, "connect", registry, () => _discovery!.ConnectRegistry(registry));
        }

        foreach (IGrouping<string, ServiceInstance> service in instances.GroupBy(static one => one.Service, StringComparer.Ordinal))
        {
            _known.SetService(service.Key, service);
        }
    }

    public ValueTask DisposeAsync() => _discovery?.DisposeAsync() ?? ValueTask.CompletedTask;
}
