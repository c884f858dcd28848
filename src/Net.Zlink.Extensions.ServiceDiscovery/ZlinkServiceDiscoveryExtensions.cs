using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.ServiceDiscovery;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.ServiceDiscovery;

/// <summary>Registers the two directions with a container.</summary>
public static class ZlinkServiceDiscoveryExtensions
{
    /// <summary>Registers an <see cref="IServiceDirectory"/> that resolves services with Microsoft.Extensions.ServiceDiscovery, if there is
    /// none yet. It uses the <see cref="ZlinkContext"/> of the container.</summary>
    /// <param name="services">The container's services. <c>AddServiceDiscovery</c> is called on them.</param>
    /// <param name="options">The options; null: the defaults.</param>
    /// <returns>The same services.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="services"/> is null.</exception>
    public static IServiceCollection AddZlinkServiceDiscoveryDirectory(
        this IServiceCollection services, ServiceDiscoveryDirectoryOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.AddServiceDiscovery();
        services.TryAddSingleton<IServiceDirectory>(provider => new ServiceDiscoveryDirectory(
            provider.GetRequiredService<ZlinkContext>(), provider.GetRequiredService<ServiceEndpointResolver>(), options));
        return services;
    }

    /// <summary>Lets Microsoft.Extensions.ServiceDiscovery, and so HttpClient, find services in a zlink directory: those that registered an
    /// endpoint with the scheme that is asked for, such as <c>http://10.0.0.1:8080</c>. Other providers are asked as well.</summary>
    /// <param name="services">The container's services. <c>AddServiceDiscovery</c> is called on them.</param>
    /// <param name="directory">Makes the directory, once; not one that itself resolves with Microsoft.Extensions.ServiceDiscovery. Null:
    /// the <see cref="IServiceDirectory"/> of the container.</param>
    /// <returns>The same services.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="services"/> is null.</exception>
    public static IServiceCollection AddZlinkServiceEndpointProvider(
        this IServiceCollection services, Func<IServiceProvider, IServiceDirectory>? directory = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.AddServiceDiscovery();

        // In front of the provider that passes names on as they are, which adds its endpoint only where there is none yet.
        services.Insert(0, ServiceDescriptor.Singleton<IServiceEndpointProviderFactory>(provider => new ZlinkEndpointProviderFactory(
            directory?.Invoke(provider) ?? provider.GetRequiredService<IServiceDirectory>(),
            provider.GetRequiredService<ILogger<ZlinkEndpointProviderFactory>>())));
        return services;
    }
}
