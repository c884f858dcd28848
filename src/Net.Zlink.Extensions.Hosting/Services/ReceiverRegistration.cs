using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class ReceiverRegistration(
    string service, string contextName, string handlerName,
    Func<IServiceProvider, Func<ServiceRequest, CancellationToken, ValueTask>> handler)
{
    public string Service { get; } = service;

    public string ContextName { get; } = contextName;

    public string HandlerName { get; } = handlerName;

    public Func<IServiceProvider, Func<ServiceRequest, CancellationToken, ValueTask>> Handler { get; } = handler;

    public List<string> Binds { get; } = [];

    public List<string> Registries { get; } = [];

    public ServingSettings Settings { get; } = new();

    public ReceiverHealthOptions? Health { get; set; }

    public string CheckName => $"zlink-receiver-{Service}";

    public IConfigurationSection? Section(IServiceProvider provider) =>
        Registrations.ContextOf(provider, ContextName).Registration.Section(Keys.Receivers, Service);

    public ServiceReceiver Create(IServiceProvider provider)
    {
        IConfigurationSection? section = Section(provider);
        ConfigurationErrors.Read(section, Settings, static (from, to) => from.Bind(to));
        ServiceReceiverOptions options = PartOptions.Of<ServiceReceiverOptions>(provider, Service);

        return ConfigurationErrors.Named(
            section, () => new ServiceReceiver(Registrations.ContextOf(provider, ContextName).Context, options));
    }

    public ReceiverHealthCheck CreateCheck(IServiceProvider provider)
    {
        ReceiverHealthOptions options = Health!;
        if (Section(provider)?.GetSection(Keys.Health) is { } section)
        {
            ConfigurationErrors.Named(section, () => section.Bind(options, static binder => binder.ErrorOnUnknownConfiguration = true));
        }

        return new ReceiverHealthCheck(provider.GetRequiredKeyedService<HostedReceiver>(Service), options);
    }
}
