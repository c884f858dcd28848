using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>One client of a host. A client that connects by itself has options by the name of its service.</summary>
/// <remarks>The configuration's section <c>Clients:service</c> has the keys <c>Connect</c> and <c>Health</c>, which take the place of what
/// is said in code. A client that connects by itself has the keys of a gateway, too.</remarks>
public sealed class ZlinkClientBuilder : OptionsBuilder<ServiceGatewayOptions>
{
    private readonly ClientRegistration _registration;

    internal ZlinkClientBuilder(IServiceCollection services, ClientRegistration registration)
        : base(services, registration.Service) => _registration = registration;

    /// <summary>Runs each request by a policy of the application's: retries, hedging, a circuit breaker.</summary>
    /// <remarks>The page on hosting has a policy of one line that runs a pipeline of Polly.
    /// <see cref="ServiceException.WasExecuted"/> tells whether a failed request may be sent again.</remarks>
    /// <param name="policy">Gives the policy.</param>
    /// <returns>This builder.</returns>
    public ZlinkClientBuilder UsePolicy(Func<IServiceProvider, IRequestPolicy> policy)
    {
        _registration.Policy = policy;
        return this;
    }

    /// <summary>Adds a health check named <c>zlink-client-</c> and the service.</summary>
    /// <inheritdoc cref="ZlinkReceiverBuilder.AddHealthCheck" path="/param"/>
    /// <returns>This builder.</returns>
    public ZlinkClientBuilder AddHealthCheck(Action<ClientHealthOptions>? configure = null, params IEnumerable<string> tags)
    {
        var options = new ClientHealthOptions();
        configure?.Invoke(options);
        ClientRegistration registration = _registration;
        registration.Health = options;
        Services.AddKeyedSingleton(registration.CheckName, (provider, _) => registration.CreateCheck(provider));
        Services.AddCheck<ClientHealthCheck>(registration.CheckName, registration.CheckName, tags);
        return this;
    }
}
