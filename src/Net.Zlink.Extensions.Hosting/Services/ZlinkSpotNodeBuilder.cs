using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>One SPOT node of a host, and its options by its name.</summary>
/// <remarks>Not thread-safe: used while the services are registered. The configuration's section <c>SpotNodes:name</c> has the keys
/// <c>Bind</c>, <c>Connect</c>, <c>Registries</c>, <c>FollowRegistries</c> and those of <see cref="SpotNodeOptions"/>. They take the place
/// of what is said in code.</remarks>
public sealed class ZlinkSpotNodeBuilder : OptionsBuilder<SpotNodeOptions>
{
    private readonly SpotNodeRegistration _registration;

    internal ZlinkSpotNodeBuilder(IServiceCollection services, SpotNodeRegistration registration)
        : base(services, registration.Name) => _registration = registration;

    /// <summary>Connects to another node by its address.</summary>
    /// <param name="endpoint">As for <see cref="SpotNode.Connect"/>.</param>
    /// <returns>This builder.</returns>
    public ZlinkSpotNodeBuilder Connect(string endpoint)
    {
        _registration.Connects.Add(endpoint);
        return this;
    }

    /// <summary>Registers the node with registries, when all services of the host have started.</summary>
    /// <param name="routerEndpoints">As for <see cref="SpotNode.ConnectRegistry"/>.</param>
    /// <returns>This builder.</returns>
    public ZlinkSpotNodeBuilder UseRegistries(params IEnumerable<string> routerEndpoints)
    {
        _registration.Registries.AddRange(routerEndpoints);
        return this;
    }

    /// <summary>Connects to the nodes that registries list, with a <see cref="RegistryDirectory"/> of its own.</summary>
    /// <param name="publisherEndpoints">As for <see cref="RegistryDirectory.ConnectRegistry"/>.</param>
    /// <returns>This builder.</returns>
    public ZlinkSpotNodeBuilder FollowRegistries(params IEnumerable<string> publisherEndpoints)
    {
        _registration.Followed.AddRange(publisherEndpoints);
        return this;
    }

    /// <summary>Connects to the nodes that a directory lists.</summary>
    /// <param name="directory">Gives the directory, which stays the container's.</param>
    /// <returns>This builder.</returns>
    public ZlinkSpotNodeBuilder UseDirectory(Func<IServiceProvider, IServiceDirectory> directory)
    {
        _registration.Directory = directory;
        return this;
    }

    /// <inheritdoc/>
    public override ZlinkSpotNodeBuilder Configure(Action<SpotNodeOptions> configureOptions)
    {
        base.Configure(configureOptions);
        return this;
    }
}
