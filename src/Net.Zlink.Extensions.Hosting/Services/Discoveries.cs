using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal static class Discoveries
{
    public static RegistryDirectory Connect(ZlinkContext context, ServiceKind kind, IReadOnlyList<string> registries, string part)
    {
        var discovery = new RegistryDirectory(context, kind);
        try
        {
            foreach (string registry in registries)
            {
                SocketDrain.Named(part, "connect", registry, () => discovery.ConnectRegistry(registry));
            }

            return discovery;
        }
        catch
        {
            discovery.Dispose();
            throw;
        }
    }
}
