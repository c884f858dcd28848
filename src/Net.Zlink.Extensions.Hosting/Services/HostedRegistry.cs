using Microsoft.Extensions.Logging;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class HostedRegistry(ServiceRegistry registry, ILogger logger) : HostedPart
{
    public override string Description => "Registry";

    public ServiceRegistry Registry => registry;

    public override void Open()
    {
        SocketDrain.Named(Description, "bind", $"{registry.PublisherEndpoint} and {registry.RouterEndpoint}", registry.Start);
        HostingLog.Bound(logger, Description, $"{registry.PublisherEndpoint} and {registry.RouterEndpoint}");
    }

    public override ValueTask EndAsync() => registry.DisposeAsync();
}
