using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Options of services: what a host sets before the application does, and what a section says.</summary>
internal static class ServiceSections
{
    private const string Transports = $"{nameof(ServiceGatewayOptions.DirectoryEndpoints)}:{nameof(DirectoryEndpointOptions.Transports)}";

    // A debugger stops a process for longer than a network does.
    private static readonly TimeSpan DevelopmentTimeout = TimeSpan.FromMinutes(5);

    /// <summary>All parts of a system start at once, so a first request may come before the first receiver.</summary>
    public static void SetDefaults(ServiceGatewayOptions options, IServiceProvider provider)
    {
        options.WaitForReady = true;
        SetTimeout(options.Socket, provider);
    }

    /// <summary>Scoped code often blocks.</summary>
    public static void SetDefaults(ServiceReceiverOptions options, IServiceProvider provider) => options.RunHandlersOnPool = true;

    public static void SetDefaults(SpotNodeOptions options, IServiceProvider provider) => SetTimeout(options.SubscriberSocket, provider);

    public static void Bind(IConfigurationSection section, ServiceGatewayOptions options, params ReadOnlySpan<string> others)
    {
        new OptionsSection(section, [Transports, .. others]).Bind(options, SocketKinds.Strictly);
        ReadList(section.GetSection(Transports), options.DirectoryEndpoints.Transports);
    }

    public static void Bind(IConfigurationSection section, ServiceReceiverOptions options) =>
        new OptionsSection(section, Keys.Bind, Keys.Registries, Keys.Health, nameof(ServingSettings.MaxConcurrency),
            nameof(ServingSettings.Weight), nameof(ServingSettings.Advertise)).Bind(options, SocketKinds.Strictly);

    public static void Bind(IConfigurationSection section, SpotNodeOptions options, params ReadOnlySpan<string> others)
    {
        new OptionsSection(section, [Transports, .. others]).Bind(options, SocketKinds.Strictly);
        ReadList(section.GetSection(Transports), options.DirectoryEndpoints.Transports);
    }

    public static void Bind(IConfigurationSection section, ServiceRegistryOptions options)
    {
        new OptionsSection(section, nameof(ServiceRegistryOptions.Peers)).Bind(options, SocketKinds.Strictly);
        ReadList(section.GetSection(nameof(ServiceRegistryOptions.Peers)), options.Peers);
    }

    private static void SetTimeout(ZmpSocketOptions socket, IServiceProvider provider)
    {
        if (provider.GetService<IHostEnvironment>()?.IsDevelopment() == true)
        {
            socket.HeartbeatTimeout = DevelopmentTimeout;
        }
    }

    /// <summary>What is configured takes the place of the list in code; one value stands for a list.</summary>
    private static void ReadList(IConfigurationSection section, ICollection<string> list)
    {
        if (ConfigurationErrors.TextsOf(section).ToArray() is { Length: > 0 } texts)
        {
            list.Clear();
            Array.ForEach(texts, list.Add);
        }
    }
}

/// <summary>How a host lets a receiver serve; the keys stand beside those of its options.</summary>
internal sealed class ServingSettings
{
    public int MaxConcurrency
    {
        get;
        set => field = OptionRange.InRange(value, 1);
    } = 64;

    public uint Weight
    {
        get;
        set => field = (uint)OptionRange.InRange(value, 1);
    } = 1;

    public string? Advertise { get; set; }
}
