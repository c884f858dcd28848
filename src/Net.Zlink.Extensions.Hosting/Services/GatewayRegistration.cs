using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>What an application said of one gateway.</summary>
internal sealed class GatewayRegistration(string name, string contextName)
{
    public string Name { get; } = name;

    public string ContextName { get; } = contextName;

    public List<string> Registries { get; } = [];

    public List<ServiceInstance> Instances { get; } = [];

    public Func<IServiceProvider, IServiceDirectory>? Directory { get; set; }

    public Func<GatewayOptions, GatewayOptions>? Configure { get; set; }

    public HostedGateway Create(IServiceProvider provider)
    {
        ZlinkContext context = Registrations.ContextOf(provider, ContextName).Context;
        Discovery? discovery = null;
        IServiceDirectory directory;
        if (Directory is not null)
        {
            directory = Directory(provider);
        }
        else if (Registries.Count == 0 && Instances.Count == 0)
        {
            directory = provider.GetService<IServiceDirectory>() ?? throw new InvalidOperationException(
                $"The gateway \"{Name}\" has no directory: call FollowRegistries, AddReceiver or UseDirectory, or register an "
                + "IServiceDirectory.");
        }
        else if (Registries.Count == 0)
        {
            directory = new StaticDirectory(context.TimeProvider, Instances);
        }
        else
        {
            directory = discovery = new Discovery(context);
            foreach (string registry in Registries)
            {
                SocketDrain.Named($"Gateway \"{Name}\"", "connect", registry, () => discovery.ConnectRegistry(registry));
            }
        }

        var options = new GatewayOptions();
        return new HostedGateway(new Gateway(context, directory, Configure?.Invoke(options) ?? options), discovery, Name);
    }
}
