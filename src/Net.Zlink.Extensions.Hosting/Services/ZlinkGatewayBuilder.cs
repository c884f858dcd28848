using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>One gateway of a host, and its options by its name.</summary>
/// <remarks>Not thread-safe: used while the services are registered. The configuration's section <c>Gateways:name</c>, or <c>Gateway</c>
/// for the one without a key, has the keys <c>FollowRegistries</c>, <c>Receivers</c> with endpoints by service, and those
/// of <see cref="ServiceGatewayOptions"/>. They take the place of what is said in code.</remarks>
public sealed class ZlinkGatewayBuilder : OptionsBuilder<ServiceGatewayOptions>
{
    private readonly GatewayRegistration _registration;

    internal ZlinkGatewayBuilder(IServiceCollection services, GatewayRegistration registration)
        : base(services, registration.Name) => _registration = registration;

    /// <summary>Finds receivers through registries, with a <see cref="RegistryDirectory"/> of its own.</summary>
    /// <param name="publisherEndpoints">As for <see cref="RegistryDirectory.ConnectRegistry"/>.</param>
    /// <returns>This builder.</returns>
    public ZlinkGatewayBuilder FollowRegistries(params IEnumerable<string> publisherEndpoints)
    {
        _registration.Registries.AddRange(publisherEndpoints);
        return this;
    }

    /// <summary>Knows a receiver by its address, without a registry.</summary>
    /// <param name="service">The service that it offers.</param>
    /// <param name="endpoint">Where it listens.</param>
    /// <returns>This builder.</returns>
    public ZlinkGatewayBuilder AddReceiver(string service, string endpoint)
    {
        _registration.Instances.Add(new ServiceInstance(service, endpoint));
        return this;
    }

    /// <summary>Finds receivers in a directory of the application's. Without this call and the others the container's
    /// <see cref="IServiceDirectory"/> is used.</summary>
    /// <param name="directory">Gives the directory, which stays the container's.</param>
    /// <returns>This builder.</returns>
    public ZlinkGatewayBuilder UseDirectory(Func<IServiceProvider, IServiceDirectory> directory)
    {
        _registration.Directory = directory;
        return this;
    }

    /// <inheritdoc/>
    public override ZlinkGatewayBuilder Configure(Action<ServiceGatewayOptions> configureOptions)
    {
        base.Configure(configureOptions);
        return this;
    }
}
