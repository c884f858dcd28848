using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Makes the discovery of a part that follows registries.</summary>
internal static class Discoveries
{
    /// <exception cref="InvalidOperationException">An endpoint is none; the message names part and endpoint.</exception>
    public static Discovery Connect(ZlinkContext context, ServiceKind kind, IReadOnlyList<string> registries, string part)
    {
        var discovery = new Discovery(context, kind);
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
