using System.Globalization;
using System.IO.Pipelines;
using System.Net;
using System.Net.WebSockets;
using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Timeouts;
using Microsoft.AspNetCore.Routing;
using Net.Zlink.Monitoring;

namespace Net.Zlink.AspNetCore;

/// <summary>Gives a pipe to its socket; the result is why the connection ended.</summary>
internal delegate Task<DisconnectReason> Accept(IDuplexPipe pipe, PeerDetails peer, CancellationToken ending);

/// <summary>The end of a request pipeline: makes a peer of a WebSocket request.</summary>
internal sealed class WebSocketAcceptor(ZlinkSocket socket, ZlinkEndpointOptions options, Accept accept, CancellationToken stopping)
{
    private readonly string[] _headers = [.. options.Headers];
    private readonly bool _isFramed = options.OneFramePerMessage;

    public async Task InvokeAsync(HttpContext context)
    {
        if (!context.WebSockets.IsWebSocketRequest)
        {
            await RefuseAsync(context, StatusCodes.Status426UpgradeRequired, "This address is for WebSocket connections.")
                .ConfigureAwait(false);
            return;
        }

        if (!await OriginRule.AllowsAsync(context, socket.Options.WebSocket.AllowedOrigins).ConfigureAwait(false))
        {
            await RefuseAsync(context, StatusCodes.Status403Forbidden,
                "Pages of this origin may not connect here. The server can allow it by a CORS policy of this endpoint.")
                .ConfigureAwait(false);
            return;
        }

        context.Features.Get<IHttpRequestTimeoutFeature>()?.DisableTimeout();
        string? subProtocol = context.WebSockets.WebSocketRequestedProtocols.FirstOrDefault(socket.Options.WebSocket.SubProtocols.Contains);
        PeerDetails peer = DetailsOf(context, subProtocol);
        using WebSocket webSocket = await context.WebSockets.AcceptWebSocketAsync(new WebSocketAcceptContext
        {
            SubProtocol = subProtocol,
            KeepAliveInterval = socket.Options.WebSocket.PingInterval,
        }).ConfigureAwait(false);
        await ServeAsync(webSocket, peer).ConfigureAwait(false);
    }

    private static Task RefuseAsync(HttpContext context, int status, string reason)
    {
        context.Response.StatusCode = status;
        return context.Response.WriteAsync(reason, context.RequestAborted);
    }

    private async Task ServeAsync(WebSocket webSocket, PeerDetails peer)
    {
        TimeSpan closeTimeout = socket.Options.CloseTimeout;
        long longestFrame = (socket.Options as StreamOptions)?.MaxMessageSize ?? int.MaxValue;
        var end = new WebSocketEnd(webSocket, closeTimeout, stopping);
        WebSocketBytes bytes = _isFramed ? new WebSocketFrames(webSocket, end, longestFrame) : new WebSocketBytes(webSocket, end);
        await using ConfiguredAsyncDisposable _ = bytes.ConfigureAwait(false);
        try
        {
            end.Reason = await accept(new WebSocketPipe(bytes), peer, stopping).ConfigureAwait(false);
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            end.Reason = DisconnectReason.ContextTerminated; // The socket is gone, and the application goes on without it.
        }
    }

    private PeerDetails DetailsOf(HttpContext context, string? subProtocol)
    {
        Dictionary<string, string> known = new(StringComparer.OrdinalIgnoreCase);
        foreach (string name in _headers)
        {
            if (context.Request.Headers.TryGetValue(name, out var values))
            {
                known[name] = values.ToString();
            }
        }

        foreach ((string name, object? value) in context.Request.RouteValues)
        {
            known[name] = Convert.ToString(value, CultureInfo.InvariantCulture) ?? "";
        }

        IPAddress? address = context.Connection.RemoteIpAddress;
        return new PeerDetails
        {
            // The pattern and not the path: a path may hold secrets, and names are in logs.
            Name = (context.GetEndpoint() as RouteEndpoint)?.RoutePattern.RawText?.TrimStart('/') ?? "",
            RemoteAddress = address is null ? "" : new IPEndPoint(address, context.Connection.RemotePort).ToString(),
            RemoteCertificate = context.Connection.ClientCertificate,
            User = context.User,
            SubProtocol = subProtocol,
            Headers = known,
        };
    }
}
