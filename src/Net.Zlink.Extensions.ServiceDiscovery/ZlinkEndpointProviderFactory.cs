using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.ServiceDiscovery;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.ServiceDiscovery;

/// <summary>Shows the services of a zlink directory to Microsoft.Extensions.ServiceDiscovery.</summary>
internal sealed class ZlinkEndpointProviderFactory(IServiceDirectory directory, ILogger<ZlinkEndpointProviderFactory> logger)
    : IServiceEndpointProviderFactory
{
    /// <returns>Always true: a service may be listed later.</returns>
    public bool TryCreateProvider(ServiceEndpointQuery query, [NotNullWhen(true)] out IServiceEndpointProvider? provider)
    {
        provider = new ZlinkEndpointProvider(directory, query, logger);
        return true;
    }
}
