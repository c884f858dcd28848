using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

// Without an endpoint the gateway knows it, or the configuration.
internal sealed record ClientRegistration(string Service, string? Endpoint, string Gateway, string ContextName)
{
    public Func<IServiceProvider, IRequestPolicy>? Policy { get; set; }

    public ClientHealthOptions? Health { get; set; }

    public string CheckName => $"zlink-client-{Service}";

    public RequestClient Create(IServiceProvider provider)
    {
        IConfigurationSection? section = Section(provider);
        IMessageSerializer serializer = SerializerOf(provider);
        IRequestPolicy? policy = Policy?.Invoke(provider);
        if ((section?[Keys.Connect] ?? Endpoint) is not { } endpoint)
        {
            if (section is not null)
            {
                ConfigurationErrors.CheckKeys(section, Keys.Connect, Keys.Health); // The settings of the gateway are not the client's.
            }

            ServiceGateway gateway = provider.GetRequiredKeyedService<HostedGateway>(Gateway).Gateway;
            return new RequestClient(gateway.GetClient(Service), serializer, policy);
        }

        ServiceGatewayOptions options = PartOptions.Of<ServiceGatewayOptions>(provider, Service);
        return ConfigurationErrors.Named(
            section, () => new RequestClient(
                Registrations.ContextOf(provider, ContextName).Context, endpoint, serializer, Service, options, policy));
    }

    public ClientHealthCheck CreateCheck(IServiceProvider provider)
    {
        ClientHealthOptions options = Health!;
        if (Section(provider)?.GetSection(Keys.Health) is { } section)
        {
            ConfigurationErrors.Named(section, () => section.Bind(options, static binder => binder.ErrorOnUnknownConfiguration = true));
        }

        return new ClientHealthCheck(provider.GetRequiredKeyedService<RequestClient>(Service).Service, options);
    }

    public static IMessageSerializer SerializerOf(IServiceProvider provider) =>
        provider.GetService<IMessageSerializer>() ?? throw new ZlinkSettingException(
            "There is no serializer: call services.AddZlinkJson(), or register an IMessageSerializer.");

    private IConfigurationSection? Section(IServiceProvider provider) =>
        Registrations.ContextOf(provider, ContextName).Registration.Section(Keys.Clients, Service);
}
