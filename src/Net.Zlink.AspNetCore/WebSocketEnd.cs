using System.Net.WebSockets;
using Net.Zlink.Monitoring;

namespace Net.Zlink.AspNetCore;

/// <summary>Says CLOSE once, within a limit: a peer that reads nothing must not hold a socket that ends.</summary>
internal sealed class WebSocketEnd(WebSocket webSocket, TimeSpan limit, CancellationToken stopping)
{
    private int _hasBegun;

    /// <summary>A message was longer than a frame may be.</summary>
    public bool IsTooBig { get; set; }

    /// <summary>Known only when the socket has released the connection without a CLOSE.</summary>
    public DisconnectReason Reason { get; set; }

    public async ValueTask CloseAsync()
    {
        if (Interlocked.Exchange(ref _hasBegun, 1) != 0 || webSocket.State is not (WebSocketState.Open or WebSocketState.CloseReceived))
        {
            return;
        }

        using var deadline = new CancellationTokenSource(limit);
        try
        {
            (WebSocketCloseStatus status, string? words) = Status();
            await webSocket.CloseOutputAsync(status, words, deadline.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (e is WebSocketException or OperationCanceledException or IOException or ObjectDisposedException)
        {
            webSocket.Abort();
        }
    }

    private (WebSocketCloseStatus Status, string? Words) Status() => this switch
    {
        { IsTooBig: true } => (WebSocketCloseStatus.MessageTooBig, "the message is longer than the server's MaxMessageSize"),
        { Reason: DisconnectReason.Refused } => (WebSocketCloseStatus.PolicyViolation, "the socket accepts no further peer"),
        { Reason: DisconnectReason.ContextTerminated } => (WebSocketCloseStatus.EndpointUnavailable, "the socket is closed"),
        _ when stopping.IsCancellationRequested => (WebSocketCloseStatus.EndpointUnavailable, "the server stops"),
        _ => (WebSocketCloseStatus.NormalClosure, null),
    };
}
