using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A registry with the default limits.</summary>
internal static class AttackedRegistry
{
    public static ServiceRegistry Start(ZlinkContext context)
    {
        var registry = new ServiceRegistry(
            context, new ServiceRegistryOptions { PublisherEndpoint = "tcp://127.0.0.1:*", RouterEndpoint = "tcp://127.0.0.1:*" });
        registry.Start();
        return registry;
    }
}
