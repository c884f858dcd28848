using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Registers contexts with a host.</summary>
public static class ZlinkServiceCollectionExtensions
{
    /// <summary>Registers the context of the application: a singleton with the host's loggers, <c>IMeterFactory</c> and
    /// <see cref="TimeProvider"/>. The host binds at its start and drains at its end what is registered with the context.</summary>
    /// <remarks>
    /// The configuration has the sections <c>Context</c> (settings of <see cref="ZlinkContextOptions"/>), <c>Health</c>, and
    /// <c>Sockets</c>, <c>Streams</c> and so on with one child for each name. A key or value that is wrong fails the start of the host, and
    /// the message names the key.
    /// </remarks>
    /// <param name="services">The services of the host.</param>
    /// <param name="configuration">As a rule <c>configuration.GetSection("Zlink")</c>; null: no configuration.</param>
    /// <returns>The context, for further settings.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="services"/> is null.</exception>
    public static ZlinkBuilder AddZlink(
        this IServiceCollection services, IConfiguration? configuration = null) => Add(services, "", configuration);

    /// <summary>As the other one, for a further context, a keyed singleton. Sockets use it with their argument <c>context</c>.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="name">The key of the context, and its name in metrics.</param>
    /// <param name="configuration">The section of this context; null: no configuration.</param>
    /// <returns>The context, for further settings.</returns>
    /// <exception cref="ArgumentException"><paramref name="name"/> is empty.</exception>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    public static ZlinkBuilder AddZlink(
        this IServiceCollection services, string name, IConfiguration? configuration = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return Add(services, name, configuration);
    }

    private static ZlinkBuilder Add(IServiceCollection services, string name, IConfiguration? configuration)
    {
        ArgumentNullException.ThrowIfNull(services);
        ContextRegistration registration = services.Context(name);
        registration.Configuration = configuration ?? registration.Configuration;
        return new ZlinkBuilder(services, registration);
    }
}
