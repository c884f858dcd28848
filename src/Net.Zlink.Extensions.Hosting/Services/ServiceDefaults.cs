using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>What a host sets in the options of services before the application does.</summary>
internal static class ServiceDefaults
{
    // A debugger stops a process for longer than a network does.
    private static readonly TimeSpan DevelopmentTimeout = TimeSpan.FromMinutes(5);

    /// <summary>All parts of a system start at once, so a first request may come before the first receiver.</summary>
    public static void Set(ServiceGatewayOptions options, IServiceProvider provider)
    {
        options.WaitForReady = true;
        SetTimeout(options.Socket, provider);
    }

    /// <summary>Scoped code often blocks.</summary>
    public static void Set(ServiceReceiverOptions options, IServiceProvider provider) => options.RunHandlersOnPool = true;

    public static void Set(SpotNodeOptions options, IServiceProvider provider) => SetTimeout(options.SubscriberSocket, provider);

    private static void SetTimeout(ZmpSocketOptions socket, IServiceProvider provider)
    {
        if (provider.GetService<IHostEnvironment>()?.IsDevelopment() == true)
        {
            socket.HeartbeatTimeout = DevelopmentTimeout;
        }
    }
}
