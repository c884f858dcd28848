using Microsoft.Extensions.DependencyInjection;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>One part of a host, such as a context or a socket, for further settings.</summary>
/// <remarks>Not thread-safe: used while the services are registered.</remarks>
public abstract class ZlinkPartBuilder
{
    private protected ZlinkPartBuilder(IServiceCollection services, string name)
    {
        Services = services;
        Name = name;
    }

    /// <summary>The services of the host.</summary>
    public IServiceCollection Services { get; }

    /// <summary>The key of the part: the name of a context or socket, the service of a receiver or client. Empty for the context without a
    /// key.</summary>
    public string Name { get; }
}
