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

    public Setting Section(IServiceProvider provider) => provider.SettingOf(ContextName, SectionOf(Name), Name);

    public HostedGateway Create(IServiceProvider provider)
    {
        ZlinkContext context = Registrations.ContextOf(provider, ContextName).Context;
        Setting section = Section(provider);
        ServiceGatewayOptions options = PartOptions.Of<ServiceGatewayOptions>(provider, Name);
        OwnDirectory? found = FindOwn(context, section);
        IServiceDirectory directory = found?.Directory ?? Directory?.Invoke(provider) ?? provider.GetService<IServiceDirectory>()
            ?? throw new ZlinkSettingException(
                $"The gateway \"{Name}\" has no directory: call FollowRegistries, AddReceiver or UseDirectory, or register an "
                + "IServiceDirectory.");
        return new HostedGateway(Name, SettingFaults.Named(section, () => new ServiceGateway(context, directory, options)), found);
    }

    /// <summary>What the configuration says takes the place of all that is said in code.</summary>
    private OwnDirectory? FindOwn(ZlinkContext context, Setting section)
    {
        IReadOnlyList<string> registries = section[Keys.FollowRegistries].Texts() ?? [];
        ServiceInstance[] instances = [.. InstancesOf(section)];
        if (registries.Count + instances.Length > 0)
        {
            return new OwnDirectory(context, registries, instances);
        }

        return Directory is null && Registries.Count + Instances.Count > 0 ? new OwnDirectory(context, Registries, Instances) : null;
    }

    // "Receivers": { "quotes": [ "tcp://a:5555", "tcp://b:5555" ] }
    private static IEnumerable<ServiceInstance> InstancesOf(Setting section) =>
        from service in section[Keys.Receivers].Children
        from endpoint in service.Texts() ?? []
        select new ServiceInstance(service.Key, endpoint);
}
