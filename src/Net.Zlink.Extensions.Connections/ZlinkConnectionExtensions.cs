using System.Diagnostics.CodeAnalysis;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Net.Zlink.Extensions.Hosting;

namespace Net.Zlink.Extensions.Connections;

/// <summary>Serves a STREAM of a host by a <see cref="ConnectionHandler"/> of ASP.NET Core.</summary>
public static class ZlinkConnectionExtensions
{
    /// <summary>Serves each peer with a <see cref="ConnectionHandler"/>, over a pipe of bytes without framing.</summary>
    /// <example>
    /// <code>
    /// services.AddZlinkStream("tcp://*:5555", stream => stream.UseConnectionHandler&lt;EchoConnection&gt;());
    /// </code>
    /// </example>
    /// <remarks>
    /// The handler is made for each connection, with a scope of services that ends with it, unless it is registered as a singleton.
    /// Its connection has the feature <c>IConnectionLifetimeNotificationFeature</c>, which asks it to end when the host stops. The
    /// <see cref="StreamPipe"/> is a feature, too: certificate and WebSocket request are there. The connection ends with the handler's
    /// task.
    /// </remarks>
    /// <param name="builder">The STREAM.</param>
    /// <typeparam name="THandler">The handler.</typeparam>
    /// <returns>The builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="builder"/> is null.</exception>
    public static ZlinkStreamBuilder UseConnectionHandler<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler>(this ZlinkStreamBuilder builder)
        where THandler : ConnectionHandler
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.TryAddScoped<THandler>();
        return builder.UsePipe(static async (provider, pipe, stopping) =>
        {
            var connection = new StreamConnection(pipe, stopping);
            await using (connection.ConfigureAwait(false))
            {
                await provider.GetRequiredService<THandler>().OnConnectedAsync(connection).ConfigureAwait(false);
            }
        });
    }
}
