using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>How long peers may be silent in a host, where neither code nor settings say it.</summary>
internal static class PeerTimeouts
{
    /// <summary>In Development 5 min, because a debugger stops a process for longer than a network does. Null: the services'
    /// default.</summary>
    public static TimeSpan? HeartbeatTimeoutOf(IServiceProvider provider) =>
        provider.GetService<IHostEnvironment>()?.IsDevelopment() == true ? TimeSpan.FromMinutes(5) : null;
}
