using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.ServiceDiscovery;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.ServiceDiscovery;

internal sealed class ZlinkEndpointProviderFactory(IServiceDirectory directory, ILogger<ZlinkEndpointProviderFactory> logger)
    : IServiceEndpointProviderFactory
{
    public bool TryCreateProvider(ServiceEndpointQuery query, [NotNullWhen(true)] out IServiceEndpointProvider? provider)
    {
        provider = new ZlinkEndpointProvider(directory, query, logger);
        return true;
    }
}
