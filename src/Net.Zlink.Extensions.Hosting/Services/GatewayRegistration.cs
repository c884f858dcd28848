using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class GatewayRegistration(string name, string contextName)
{
    public string Name { get; } = name;

    public string ContextName { get; } = contextName;

    public List<string> Registries { get; } = [];

    public List<ServiceInstance> Instances { get; } = [];

    public Func<IServiceProvider, IServiceDirectory>? Directory { get; set; }

    /// <summary>A gateway without a key has a section of its own.</summary>
    public static string SectionOf(string name) => name.Length == 0 ? Keys.Gateway : Keys.Gateways;

    public HostedGateway Create(IServiceProvider provider)
    {
        HostedContext hosted = Registrations.ContextOf(provider, ContextName);
        IConfigurationSection? section = hosted.Registration.Section(SectionOf(Name), Name);
        ServiceGatewayOptions options = PartOptions.Of<ServiceGatewayOptions>(provider, Name);
        (IServiceDirectory directory, RegistryDirectory? discovery) = FindDirectory(provider, hosted.Context, section);
        return ConfigurationErrors.Named(
            section, () => new HostedGateway(new ServiceGateway(hosted.Context, directory, options), discovery, Name));
    }

    private (IServiceDirectory Directory, RegistryDirectory? Discovery) FindDirectory(
        IServiceProvider provider, ZlinkContext context, IConfigurationSection? section)
    {
        IReadOnlyList<string> configuredRegistries = ConfigurationErrors.TextsOr(section, Keys.FollowRegistries, []);
        ServiceInstance[] configuredInstances = [.. InstancesOf(section)];
        bool isConfigured = configuredRegistries.Count + configuredInstances.Length > 0;
        if (Directory is not null && !isConfigured)
        {
            return (Directory(provider), null);
        }

        IReadOnlyList<string> registries = isConfigured ? configuredRegistries : Registries;
        IReadOnlyList<ServiceInstance> instances = isConfigured ? configuredInstances : Instances;
        if (registries.Count > 0)
        {
            RegistryDirectory discovery = Discoveries.Connect(context, ServiceKind.Receiver, registries, $"Gateway \"{Name}\"");
            return (discovery, discovery);
        }

        return (instances.Count > 0 ? new StaticDirectory(context.TimeProvider, instances)
            : provider.GetService<IServiceDirectory>() ?? throw new ZlinkSettingException(
                $"The gateway \"{Name}\" has no directory: call FollowRegistries, AddReceiver or UseDirectory, or register an "
                + "IServiceDirectory."), null);
    }

    // "Receivers": { "quotes": [ "tcp://a:5555", "tcp://b:5555" ] }
    private static IEnumerable<ServiceInstance> InstancesOf(IConfigurationSection? section) =>
        section is null ? []
        : from service in section.GetSection(Keys.Receivers).GetChildren()
          from endpoint in ConfigurationErrors.TextsOf(service)
          select new ServiceInstance(service.Key, endpoint);
}
