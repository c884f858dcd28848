using System.Diagnostics.CodeAnalysis;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Services;

namespace Net.Zlink.AspNetCore;

/// <summary>Passes requests of WebSocket clients on to services.</summary>
public static class ZlinkRequestExtensions
{
    /// <summary>Takes requests over WebSocket at a path of the application, and passes them on by a gateway.</summary>
    /// <example>
    /// <code>
    /// app.MapZlinkRequests("/ask", gateway, options => options.Services.Add("quotes")).RequireAuthorization();
    /// </code>
    /// </example>
    /// <remarks>
    /// <para>
    /// Clients are <c>Requester</c> of the JavaScript module net-zlink, and a <see cref="ServiceGateway"/> or a RequestClient whose
    /// receiver is the endpoint. Origins and the request's user are as for
    /// <see cref="ZlinkEndpointExtensions.MapZlink(IEndpointRouteBuilder, string, ZlinkSocket, Action{ZlinkEndpointOptions}?)"/>.
    /// </para>
    /// <para>
    /// What a receiver of the service says with a code of its own, 256 and above, reaches the client. Of other failures it learns a code
    /// only: 400 the service could not read the request, 500 it failed, 503 it is not available, 504 it took too long. When the
    /// application stops, requests that have come are answered before the connections end.
    /// </para>
    /// </remarks>
    /// <param name="endpoints">The application's routes.</param>
    /// <param name="pattern">The route, such as "/ask".</param>
    /// <param name="gateway">Asks the services. It stays the caller's.</param>
    /// <param name="configure">Names the services that may be asked for, and changes limits.</param>
    /// <returns>The endpoint, for conventions such as authorization, CORS and rate limits.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentException">An option of the receiver is wrong.</exception>
    /// <exception cref="ZlinkException">TooManySockets, ContextTerminated.</exception>
    public static IEndpointConventionBuilder MapZlinkRequests(
        this IEndpointRouteBuilder endpoints,
        [StringSyntax("Route")] string pattern,
        ServiceGateway gateway,
        Action<ZlinkRequestsOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentNullException.ThrowIfNull(pattern);
        ArgumentNullException.ThrowIfNull(gateway);
        ArgumentNullException.ThrowIfNull(configure);
        var options = new ZlinkRequestsOptions();
        configure(options);
        IHostApplicationLifetime lifetime = endpoints.ServiceProvider.GetRequiredService<IHostApplicationLifetime>();
        var forwarder = new RequestForwarder(gateway, options);
        lifetime.ApplicationStopping.UnsafeRegister(static forwarder => _ = ((RequestForwarder)forwarder!).StopAsync(), forwarder);
        return ZlinkEndpointExtensions.Map(
            endpoints, pattern, forwarder.Socket, new ZlinkEndpointOptions(), forwarder.Socket.AcceptAsync, forwarder.Ending);
    }
}
