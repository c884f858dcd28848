using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Ends behind the application's services, which use it.</summary>
internal sealed class HostedGateway(ServiceGateway gateway, RegistryDirectory? discovery, string name) : HostedPart
{
    public override string Description => $"Gateway \"{name}\"";

    public ServiceGateway Gateway => gateway;

    public override async ValueTask EndAsync()
    {
        await gateway.DisposeAsync().ConfigureAwait(false);
        if (discovery is not null)
        {
            await discovery.DisposeAsync().ConfigureAwait(false);
        }
    }
}

internal sealed class HostedClient(IServiceProvider provider, ClientRegistration registration, RequestClient client) : HostedPart
{
    public override string Description => $"Client \"{registration.Service}\"";

    public override void Open()
    {
        if (registration.Health is not null)
        {
            _ = provider.GetRequiredKeyedService<ClientHealthCheck>(registration.CheckName); // Thresholds that are wrong fail the start.
        }
    }

    public override ValueTask EndAsync() => client.DisposeAsync();
}
