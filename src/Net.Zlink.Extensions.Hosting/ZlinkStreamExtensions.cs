using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Registers STREAM servers with a host.</summary>
public static class ZlinkStreamExtensions
{
    /// <summary>Registers a STREAM, a keyed singleton <see cref="StreamSocket"/>. It is bound when the host starts; its handlers begin with
    /// the application's services. When the host stops it listens no more, and its connection handlers are asked to end.</summary>
    /// <example>
    /// <code>
    /// services.AddZlinkStream("tcp://*:5555", s => s.UseHandler&lt;ChatRoom&gt;().Configure(o => o.MaxMessageSize = 8192));
    /// </code>
    /// </example>
    /// <param name="services">The services of the host.</param>
    /// <param name="bind">Where it listens; null: where the configuration says.</param>
    /// <param name="configure">Says who serves the peers. Without a handler the application receives by itself.</param>
    /// <param name="name">The key of the socket, and the name of its section of the configuration; null: <paramref name="bind"/>.</param>
    /// <param name="context">The key of its context; empty: the one without a key.</param>
    /// <returns>The services.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="services"/> is null.</exception>
    /// <exception cref="ArgumentException">There is neither name nor endpoint, or a STREAM of that name is registered already.</exception>
    public static IServiceCollection AddZlinkStream(
        this IServiceCollection services, string? bind, Action<ZlinkStreamBuilder>? configure = null, string? name = null,
        string context = "")
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(context);
        string key = name ?? bind ?? throw new ArgumentException("Pass a name or an endpoint for the STREAM socket.", nameof(name));
        var registration = new StreamRegistration(key, context);
        services.AddPart(context, Keys.Streams, key);
        registration.AddOptions(services);
        services.AddKeyedSingleton(key, (provider, _) => (StreamSocket)registration.Create(provider));
        services.AddSingleton<HostedPart>(provider => new HostedStream(provider, registration,
            provider.GetRequiredKeyedService<StreamSocket>(key), provider.GetRequiredService<ILogger<ZlinkHost>>()));
        var builder = new ZlinkStreamBuilder(services, registration);
        _ = bind is null ? builder : builder.Bind(bind);
        configure?.Invoke(builder);
        return services;
    }
}
