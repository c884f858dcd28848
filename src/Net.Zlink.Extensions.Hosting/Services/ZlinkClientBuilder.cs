using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Services;
using Polly.Registry;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>One client of a host, for further settings.</summary>
/// <remarks>Not thread-safe: used while the services are registered.</remarks>
public sealed class ZlinkClientBuilder
{
    private readonly ClientRegistration _registration;

    internal ZlinkClientBuilder(IServiceCollection services, ClientRegistration registration)
    {
        Services = services;
        _registration = registration;
    }

    /// <summary>The services of the host.</summary>
    public IServiceCollection Services { get; }

    /// <summary>The service, which is also the key of the <see cref="RequestClient"/>.</summary>
    public string Service => _registration.Service;

    /// <summary>Runs each request through a pipeline of Polly: retries, hedging, a circuit breaker.</summary>
    /// <remarks>Register the pipeline with Polly.Extensions: <c>services.AddResiliencePipeline("quotes", ...)</c>.
    /// <see cref="ServiceException.WasExecuted"/> tells whether a failed request may be sent again.</remarks>
    /// <param name="pipeline">The name of the pipeline.</param>
    /// <returns>This builder.</returns>
    public ZlinkClientBuilder AddResilience(string pipeline) => UsePolicy(provider => new PipelinePolicy(
        provider.GetRequiredService<ResiliencePipelineProvider<string>>().GetPipeline(pipeline)));

    /// <summary>Runs each request by a policy of the application's.</summary>
    /// <param name="policy">Gives the policy.</param>
    /// <returns>This builder.</returns>
    public ZlinkClientBuilder UsePolicy(Func<IServiceProvider, IRequestPolicy> policy)
    {
        _registration.Policy = policy;
        return this;
    }

    /// <summary>Adds a health check named <c>zlink-client-</c> and the service.</summary>
    /// <param name="configure">Changes the thresholds.</param>
    /// <param name="tags">Tags of the check, such as <c>ready</c>.</param>
    /// <returns>This builder.</returns>
    public ZlinkClientBuilder AddHealthCheck(Action<ClientHealthOptions>? configure = null, params IEnumerable<string> tags)
    {
        var options = new ClientHealthOptions();
        configure?.Invoke(options);
        string service = Service;
        string name = $"zlink-client-{service}";
        Services.AddKeyedSingleton(name, (provider, _) => new ClientHealthCheck(
            provider.GetRequiredKeyedService<RequestClient>(service).Service, options));
        Services.AddCheck<ClientHealthCheck>(name, name, tags);
        return this;
    }
}
