using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>One socket of a host, and its options by its name.</summary>
/// <remarks>Not thread-safe: used while the services are registered. Endpoints and options of the configuration's section
/// <c>Sockets:name</c> take the place of those in code.</remarks>
/// <typeparam name="TOptions">The options of this type of socket.</typeparam>
public sealed class ZlinkSocketBuilder<TOptions> : OptionsBuilder<TOptions>
    where TOptions : SocketOptions, new()
{
    private readonly SocketRegistration<TOptions> _registration;

    internal ZlinkSocketBuilder(IServiceCollection services, SocketRegistration<TOptions> registration)
        : base(services, registration.Name) => _registration = registration;

    internal SocketRegistration<TOptions> Registration => _registration;

    /// <summary>Binds to a further endpoint when the host starts.</summary>
    /// <param name="endpoint">As for <see cref="ZlinkSocket.Bind"/>.</param>
    /// <returns>This builder.</returns>
    public ZlinkSocketBuilder<TOptions> Bind(string endpoint)
    {
        _registration.Binds.Add(endpoint);
        return this;
    }

    /// <summary>Connects to a further endpoint when the host starts.</summary>
    /// <param name="endpoint">As for <see cref="ZmpSocket.Connect"/>.</param>
    /// <returns>This builder.</returns>
    public ZlinkSocketBuilder<TOptions> Connect(string endpoint)
    {
        _registration.Connects.Add(endpoint);
        return this;
    }

    /// <summary>Keeps the socket connected to the instances of a service that the container's <c>IServiceDirectory</c> lists, from the
    /// start of the host to its end.</summary>
    /// <param name="service">The name of the service.</param>
    /// <returns>This builder.</returns>
    public ZlinkSocketBuilder<TOptions> Follow(string service)
    {
        _registration.Followed.Add(service);
        return this;
    }

    /// <inheritdoc/>
    public override ZlinkSocketBuilder<TOptions> Configure(Action<TOptions> configureOptions)
    {
        base.Configure(configureOptions);
        return this;
    }

    /// <summary>Adds a health check named after type and name of the socket, such as <c>zlink-router-jobs</c>.</summary>
    /// <param name="configure">Changes the thresholds; the configuration's section <c>Sockets:name:Health</c> counts after it.</param>
    /// <param name="tags">Tags of the check, such as <c>ready</c>.</param>
    /// <returns>This builder.</returns>
    public ZlinkSocketBuilder<TOptions> AddHealthCheck(Action<SocketHealthOptions>? configure = null, params IEnumerable<string> tags)
    {
        var options = new SocketHealthOptions();
        configure?.Invoke(options);
        _registration.Health = options;
        SocketRegistration<TOptions> registration = _registration;
        string name = registration.CheckName;
        Services.AddKeyedSingleton(name, (provider, _) => registration.CreateCheck(
            provider.GetRequiredKeyedService<HostedEnds>(registration.Name).Socket));
        Services.AddCheck<SocketHealthCheck>(name, name, tags);
        return this;
    }
}
