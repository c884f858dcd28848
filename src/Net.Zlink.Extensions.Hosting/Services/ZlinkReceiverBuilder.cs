using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>One receiver of a host, and its options by its name.</summary>
/// <remarks>The configuration's section <c>Receivers:service</c> has the keys <c>Bind</c>, <c>Registries</c>, <c>MaxConcurrency</c>,
/// <c>Weight</c>, <c>Advertise</c>, <c>Health</c> and those of <see cref="ServiceReceiverOptions"/>, which take the place of what is said
/// in code. Handlers run on the thread pool unless <see cref="ServiceReceiverOptions.RunHandlersOnPool"/> is set to false.</remarks>
public sealed class ZlinkReceiverBuilder : OptionsBuilder<ServiceReceiverOptions>
{
    private readonly ReceiverRegistration _registration;

    internal ZlinkReceiverBuilder(IServiceCollection services, ReceiverRegistration registration)
        : base(services, registration.Service) => _registration = registration;

    /// <inheritdoc cref="ZlinkSocketBuilder{TOptions}.Bind"/>
    public ZlinkReceiverBuilder Bind(string endpoint)
    {
        _registration.Binds.Add(endpoint);
        return this;
    }

    /// <summary>Registers the service with registries, when all services of the host have started.</summary>
    /// <param name="routerEndpoints">As for <see cref="ServiceReceiver.ConnectRegistry"/>.</param>
    /// <returns>This builder.</returns>
    public ZlinkReceiverBuilder UseRegistries(params IEnumerable<string> routerEndpoints)
    {
        _registration.Registries.AddRange(routerEndpoints);
        return this;
    }

    /// <summary>How many handlers run at once. Default 64.</summary>
    /// <param name="handlers">1 or more.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is below 1.</exception>
    public ZlinkReceiverBuilder MaxConcurrency(int handlers)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(handlers, 1);
        _registration.Settings.MaxConcurrency = handlers;
        return this;
    }

    /// <inheritdoc/>
    public override ZlinkReceiverBuilder Configure(Action<ServiceReceiverOptions> configureOptions)
    {
        base.Configure(configureOptions);
        return this;
    }

    /// <summary>Adds a health check named <c>zlink-receiver-</c> and the service.</summary>
    /// <param name="configure">Changes the thresholds; the configuration's section counts after it.</param>
    /// <param name="tags">Tags of the check, such as <c>ready</c>.</param>
    /// <returns>This builder.</returns>
    public ZlinkReceiverBuilder AddHealthCheck(Action<ReceiverHealthOptions>? configure = null, params IEnumerable<string> tags)
    {
        var options = new ReceiverHealthOptions();
        configure?.Invoke(options);
        _registration.Health = options;
        ReceiverRegistration registration = _registration;
        Services.AddKeyedSingleton(registration.CheckName, (provider, _) => registration.CreateCheck(provider));
        Services.AddCheck<ReceiverHealthCheck>(registration.CheckName, registration.CheckName, tags);
        return this;
    }
}
