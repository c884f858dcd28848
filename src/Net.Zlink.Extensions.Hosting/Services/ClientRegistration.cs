using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

// Without an endpoint the gateway knows it, or the configuration.
internal sealed record ClientRegistration(string Service, string? Endpoint, string Gateway, string ContextName)
{
    public Func<IServiceProvider, IRequestPolicy>? Policy { get; set; }

    public ClientHealthOptions? Health { get; set; }

    public string CheckName => $"zlink-client-{Service}";

    public Setting Section(IServiceProvider provider) => provider.SettingOf(ContextName, Keys.Clients, Service);

    public HostedClient Create(IServiceProvider provider)
    {
        Setting section = Section(provider);
        IMessageSerializer serializer = SerializerOf(provider);
        IRequestPolicy? policy = Policy?.Invoke(provider);
        section[Keys.Health].Read([Health ?? new ClientHealthOptions()]);
        if ((section[Keys.Connect].OneText(mayBeEmpty: false) ?? Endpoint) is not { } endpoint)
        {
            section.Read([], Keys.Connect, Keys.Health); // The settings of the gateway are not the client's.
            ServiceGateway shared = provider.GetRequiredKeyedService<HostedGateway>(Gateway).Gateway;
            return new HostedClient(Service, new RequestClient(shared.GetClient(Service), serializer, policy), null, null);
        }

        ZlinkContext context = Registrations.ContextOf(provider, ContextName).Context;
        var directory = new StaticDirectory(context.TimeProvider);
        ServiceGatewayOptions options = PartOptions.Of<ServiceGatewayOptions>(provider, Service);
        ServiceGateway gateway = SettingFaults.Named(section, () => new ServiceGateway(context, directory, options));
        var client = new RequestClient(gateway.GetClient(Service), serializer, policy);
        return new HostedClient(Service, client, gateway, () => directory.SetService(Service, new ServiceInstance(Service, endpoint)));
    }

    public ClientHealthCheck CreateCheck(IServiceProvider provider) =>
        new(provider.GetRequiredKeyedService<RequestClient>(Service).Service, Health!);

    public static IMessageSerializer SerializerOf(IServiceProvider provider) =>
        provider.GetService<IMessageSerializer>() ?? throw new ZlinkSettingException(
            "There is no serializer: call services.AddZlinkJson(), or register an IMessageSerializer.");
}
