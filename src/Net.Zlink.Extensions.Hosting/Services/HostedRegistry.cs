using Microsoft.Extensions.Logging;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class HostedRegistry(ServiceRegistry registry, ILogger logger) : HostedPart
{
    public override string Description => "Registry";

    public ServiceRegistry Registry => registry;

    public override void Open()
    {
        string bindBoth = $"bind {new RedactedEndpoint(registry.PublisherEndpoint)} and";
        SocketDrain.Named(Description, bindBoth, registry.RouterEndpoint, registry.Start);
        HostingLog.Bound(logger, "Registry publisher", registry.PublisherEndpoint);
        HostingLog.Bound(logger, "Registry router", registry.RouterEndpoint);
    }

    public override ValueTask EndAsync() => registry.DisposeAsync();
}
