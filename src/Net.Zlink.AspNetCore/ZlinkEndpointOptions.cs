namespace Net.Zlink.AspNetCore;

/// <summary>Settings of one endpoint of <see cref="ZlinkEndpointExtensions.MapZlink(Microsoft.AspNetCore.Routing.IEndpointRouteBuilder,
/// string, ZlinkSocket, Action{ZlinkEndpointOptions}?)"/>. They are read once, when the endpoint is mapped.</summary>
/// <remarks>
/// Sub-protocols, further origins and the interval of PINGs are the socket's own: see <see cref="WebSocketTransportOptions"/>. Not
/// thread-safe.
/// </remarks>
public sealed class ZlinkEndpointOptions
{
    /// <summary>
    /// Fields of the request that are kept with its peer in <see cref="PeerDetails.Headers"/>, such as "User-Agent". Letter case does not
    /// matter. Empty by default. Values of the route, such as those of "/games/{game}", are kept in any case.
    /// </summary>
    public ISet<string> Headers { get; } = new HashSet<string>(StringComparer.OrdinalIgnoreCase);

    /// <summary>
    /// For a STREAM only: each WebSocket message is one frame, without a length in front. So a page needs no framing of its own. Text
    /// messages are taken, too; this side sends binary ones. Default false: the payloads of all messages are the bytes of a tcp connection.
    /// </summary>
    public bool OneFramePerMessage { get; set; }
}
