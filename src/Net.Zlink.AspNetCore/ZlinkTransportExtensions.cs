using System.Diagnostics.CodeAnalysis;
using System.Diagnostics.Metrics;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Net.Zlink.AspNetCore.Transport;

namespace Net.Zlink.AspNetCore;

/// <summary>Serves HTTP over connections of this library.</summary>
public static class ZlinkTransportExtensions
{
    /// <summary>Makes Kestrel take its connections from this library instead of its own sockets.</summary>
    /// <example>
    /// <code>
    /// #pragma warning disable ZLINK100 // Experimental.
    /// builder.WebHost.UseZlinkTransport();
    /// </code>
    /// </example>
    /// <remarks>
    /// HTTP/1.1, HTTP/2, TLS, WebSockets and SignalR, and Kestrel's own limits and log messages, are as before. Each address is a STREAM
    /// whose peers are pipes. Addresses are tcp ports and Unix sockets, which only this user may connect to; other kinds, such as inherited
    /// handles, stay with Kestrel's transport. The <see cref="StreamPipe"/> is a feature of the connection.
    /// <para>
    /// Experimental: it is slower than Kestrel's own transport, the more connections there are (docs/benchmarks.md).
    /// </para>
    /// </remarks>
    /// <param name="builder">The web host.</param>
    /// <param name="configure">
    /// Changes options of each STREAM, such as <see cref="SocketOptions.Backlog"/>, <see cref="SocketOptions.MaxConnections"/> and
    /// <see cref="StreamOptions.WriteTimeout"/>. Called for each address when the server binds it.
    /// </param>
    /// <returns>The web host.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="builder"/> is null.</exception>
    [Experimental("ZLINK100")]
    public static IWebHostBuilder UseZlinkTransport(this IWebHostBuilder builder, Action<StreamOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.ConfigureServices(services => services.AddSingleton<IConnectionListenerFactory>(provider =>
            new ZlinkTransportFactory(configure, new ZlinkContextOptions
            {
                Name = "kestrel",
                LoggerFactory = provider.GetService<ILoggerFactory>(),
                MeterFactory = provider.GetService<IMeterFactory>(),
            })));
    }
}
