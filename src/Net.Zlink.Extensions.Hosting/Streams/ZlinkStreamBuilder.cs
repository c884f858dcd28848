using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>One STREAM socket of a host, and its options by its name.</summary>
/// <remarks>Not thread-safe: used while the services are registered. Endpoints and options of the configuration's section
/// <c>Streams:name</c> take the place of those in code.</remarks>
public sealed class ZlinkStreamBuilder : OptionsBuilder<StreamOptions>
{
    private readonly StreamRegistration _registration;

    internal ZlinkStreamBuilder(IServiceCollection services, StreamRegistration registration)
        : base(services, registration.Name) => _registration = registration;

    /// <inheritdoc cref="ZlinkSocketBuilder{TOptions}.Bind"/>
    public ZlinkStreamBuilder Bind(string endpoint)
    {
        _registration.Binds.Add(endpoint);
        return this;
    }

    /// <summary>Serves all peers with a <see cref="StreamHandler"/> from the container.</summary>
    /// <remarks>A singleton serves all peers. A scoped or transient handler is made for each connection, with a scope of services that
    /// ends with the connection.</remarks>
    /// <param name="lifetime">How the handler is registered, unless it is registered already.</param>
    /// <typeparam name="THandler">The handler.</typeparam>
    /// <returns>This builder.</returns>
    public ZlinkStreamBuilder UseHandler<[DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler>(
        ServiceLifetime lifetime = ServiceLifetime.Singleton)
        where THandler : StreamHandler
    {
        Services.TryAdd(new ServiceDescriptor(typeof(THandler), typeof(THandler), lifetime));
        bool isShared = Services.Last(static one => one.ServiceType == typeof(THandler)).Lifetime == ServiceLifetime.Singleton;
        _registration.Serving = (provider, socket) => new HandlerServing(socket, isShared
            ? provider.GetRequiredService<THandler>()
            : new ScopedStreamHandler<THandler>(
                provider.GetRequiredService<IServiceScopeFactory>(), provider.GetRequiredService<ILogger<ZlinkHost>>()));
        return this;
    }

    /// <summary>Serves each peer over a pipe of bytes without framing.</summary>
    /// <remarks>The package Net.Zlink.Extensions.Connections serves it with a <c>ConnectionHandler</c> of ASP.NET Core.</remarks>
    /// <param name="serve">Called for each connection on the thread pool, with a scope of services that ends with its task. The connection
    /// ends with the task, too. The token asks it to end, since the host stops.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="serve"/> is null.</exception>
    public ZlinkStreamBuilder UsePipe(Func<IServiceProvider, StreamPipe, CancellationToken, Task> serve)
    {
        ArgumentNullException.ThrowIfNull(serve);
        _registration.Serving = (provider, socket) => new PipeServing(
            socket, provider.GetRequiredService<IServiceScopeFactory>(), serve);
        return this;
    }

    /// <inheritdoc/>
    public override ZlinkStreamBuilder Configure(Action<StreamOptions> configureOptions)
    {
        base.Configure(configureOptions);
        return this;
    }

    /// <summary>Adds a health check named <c>zlink-stream-</c> and the name of the socket.</summary>
    /// <param name="configure">Changes the thresholds; the configuration's section <c>Streams:name:Health</c> counts after it.</param>
    /// <param name="tags">Tags of the check, such as <c>ready</c>.</param>
    /// <returns>This builder.</returns>
    public ZlinkStreamBuilder AddHealthCheck(Action<SocketHealthOptions>? configure = null, params IEnumerable<string> tags)
    {
        var options = new SocketHealthOptions();
        configure?.Invoke(options);
        _registration.Health = options;
        StreamRegistration registration = _registration;
        string name = registration.CheckName;
        Services.AddKeyedSingleton(name, (provider, _) => registration.CreateCheck(
            provider.GetRequiredKeyedService<StreamSocket>(registration.Name)));
        Services.AddCheck<SocketHealthCheck>(name, name, tags);
        return this;
    }
}
