using System.Diagnostics.CodeAnalysis;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Net.Zlink.AspNetCore;

/// <summary>Accepts peers of sockets over WebSocket, on the port of an ASP.NET Core application.</summary>
public static class ZlinkEndpointExtensions
{
    /// <summary>Accepts peers of a socket over WebSocket at a path of the application.</summary>
    /// <example>
    /// <code>
    /// app.MapZlink("/feed", prices).RequireAuthorization();
    /// </code>
    /// </example>
    /// <remarks>
    /// <para>
    /// A peer is one like those of a bound ws endpoint: any client of ws and wss can connect, over HTTP/1.1 and HTTP/2. Its
    /// <see cref="PeerDetails"/> have the request's user, address, certificate and sub-protocol. <c>UseWebSockets</c> is not needed.
    /// </para>
    /// <para>
    /// A request of a browser must come from a page of this host, or of an origin that the endpoint's CORS policy or
    /// <see cref="WebSocketTransportOptions.AllowedOrigins"/> allows. All others are answered with 403. Connections end when the
    /// application stops: what was sent is still written, within <see cref="SocketOptions.CloseTimeout"/>.
    /// </para>
    /// </remarks>
    /// <param name="endpoints">The application's routes.</param>
    /// <param name="pattern">The route, such as "/feed".</param>
    /// <param name="socket">The socket, of any type. It stays the caller's.</param>
    /// <param name="configure">Changes the endpoint's settings.</param>
    /// <returns>The endpoint, for conventions such as authorization, CORS and rate limits.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentException"><see cref="ZlinkEndpointOptions.OneFramePerMessage"/> is set for a socket that is no
    /// STREAM.</exception>
    public static IEndpointConventionBuilder MapZlink(
        this IEndpointRouteBuilder endpoints,
        [StringSyntax("Route")] string pattern,
        ZlinkSocket socket,
        Action<ZlinkEndpointOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(socket);
        return Map(endpoints, pattern, socket, configure, socket.AcceptAsync);
    }

    /// <summary>Accepts peers of a STREAM over WebSocket at a path of the application. Their frames go to a handler.</summary>
    /// <inheritdoc cref="MapZlink(IEndpointRouteBuilder, string, ZlinkSocket, Action{ZlinkEndpointOptions}?)"/>
    /// <param name="endpoints">The application's routes.</param>
    /// <param name="pattern">The route, such as "/chat".</param>
    /// <param name="socket">The socket. It stays the caller's.</param>
    /// <param name="handler">Called on each peer's shard.</param>
    /// <param name="configure">Changes the endpoint's settings.</param>
    public static IEndpointConventionBuilder MapZlink(
        this IEndpointRouteBuilder endpoints,
        [StringSyntax("Route")] string pattern,
        StreamSocket socket,
        StreamHandler handler,
        Action<ZlinkEndpointOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(socket);
        ArgumentNullException.ThrowIfNull(handler);
        return Map(endpoints, pattern, socket, configure, (pipe, peer, ending) => socket.AcceptAsync(pipe, handler, peer, ending));
    }

    internal static IEndpointConventionBuilder Map(
        IEndpointRouteBuilder endpoints,
        string pattern,
        ZlinkSocket socket,
        ZlinkEndpointOptions options,
        Accept accept,
        CancellationToken ending)
    {
        var acceptor = new WebSocketAcceptor(socket, options, accept, ending);

        // The middleware gives the request its WebSocket feature. A second one in the application does no harm.
        IApplicationBuilder pipeline = endpoints.CreateApplicationBuilder();
        pipeline.UseWebSockets();
        pipeline.Run(acceptor.InvokeAsync);
        return endpoints.Map(pattern, pipeline.Build());
    }

    private static IEndpointConventionBuilder Map(
        IEndpointRouteBuilder endpoints, string pattern, ZlinkSocket socket, Action<ZlinkEndpointOptions>? configure, Accept accept)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentNullException.ThrowIfNull(pattern);
        var options = new ZlinkEndpointOptions();
        configure?.Invoke(options);
        if (options.OneFramePerMessage && socket is not StreamSocket)
        {
            throw new ArgumentException(
                "OneFramePerMessage is for a StreamSocket; the messages of other sockets need their frames, so leave it false",
                nameof(configure));
        }

        IHostApplicationLifetime lifetime = endpoints.ServiceProvider.GetRequiredService<IHostApplicationLifetime>();
        return Map(endpoints, pattern, socket, options, accept, lifetime.ApplicationStopping);
    }
}
