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

    public Setting Section(IServiceProvider provider) => provider.SettingOf(ContextName, Keys.Receivers, Service);

    public ServiceReceiver Create(IServiceProvider provider)
    {
        ServiceReceiverOptions options = PartOptions.Of<ServiceReceiverOptions>(provider, Service);
        return SettingFaults.Named(
            Section(provider), () => new ServiceReceiver(Registrations.ContextOf(provider, ContextName).Context, options));
    }

    public ReceiverHealthCheck CreateCheck(IServiceProvider provider) =>
        new(provider.GetRequiredKeyedService<HostedReceiver>(Service), Health!);
}
