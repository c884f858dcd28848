using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink;

/// <summary>Options of bound ws and wss endpoints.</summary>
/// <remarks>Not thread-safe.</remarks>
public sealed class WebSocketTransportOptions
{
    /// <summary>
    /// The allowed origins of browsers, such as "https://shop.example". Case does not matter. Empty (default): all, so any page in a
    /// browser on this machine can connect. Requests without an Origin field come from no browser and always pass. For endpoints made
    /// afterwards.
    /// </summary>
    public ISet<string> AllowedOrigins { get; } = new HashSet<string>(StringComparer.OrdinalIgnoreCase);

    /// <summary>
    /// The allowed paths, such as "/chat"; others get 404. Empty (default): all, whatever the endpoint's own path, as in the native core.
    /// For endpoints made afterwards.
    /// </summary>
    public ISet<string> AllowedPaths { get; } = new HashSet<string>(StringComparer.Ordinal);

    /// <summary>
    /// The application's check of each request that passes the lists, for example of a cookie, token or certificate. Null (default): all
    /// pass. For endpoints made afterwards.
    /// </summary>
    /// <remarks>
    /// It is called once per request on a thread of its own, so it may block or await until <see cref="SocketOptions.HandshakeInterval"/>;
    /// then the token is cancelled. Calls may overlap. An exception is answered with 500 and reported in this side's event.
    /// </remarks>
    public Func<WebSocketRequest, CancellationToken, ValueTask<WebSocketAdmission>>? Admission { get; set; }

    internal WebSocketSettings Snapshot() => new()
    {
        AllowedOrigins = [.. AllowedOrigins],
        AllowedPaths = [.. AllowedPaths],
        Admission = Admission is { } admits ? context => AskAsync(admits, context) : null
    };

    private static async ValueTask<UpgradeRefusal> AskAsync(
        Func<WebSocketRequest, CancellationToken, ValueTask<WebSocketAdmission>> admits, UpgradeContext context) =>
        (await admits(new WebSocketRequest(context.Head, context.Remote, context.Certificate), context.Cancellation).ConfigureAwait(false))
            .Refusal;
}
