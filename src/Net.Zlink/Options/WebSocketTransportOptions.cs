using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink;

/// <summary>Options of ws and wss endpoints that are bound.</summary>
/// <remarks>Not synchronised: fill them from one thread at a time.</remarks>
public sealed class WebSocketTransportOptions
{
    /// <summary>
    /// Origins that browsers may connect from, such as "https://shop.example"; letter case does not matter. Empty (default): any, so that
    /// every page that a user of this machine opens can connect. Requests without an Origin field come from no browser and always pass. For
    /// endpoints made afterwards.
    /// </summary>
    public ISet<string> AllowedOrigins { get; } = new HashSet<string>(StringComparer.OrdinalIgnoreCase);

    /// <summary>Paths that may be asked for, such as "/chat"; others are answered with 404. Empty (default): any, whatever the endpoint's
    /// own path is, as in the native core. For endpoints made afterwards.</summary>
    public ISet<string> AllowedPaths { get; } = new HashSet<string>(StringComparer.Ordinal);

    /// <summary>
    /// The application's own judgement of each request that the lists let in: who has which cookie, token or certificate. Null (default):
    /// all come in. It is called once for each, on a thread of its own, so it may sleep as well as await, and has until
    /// <see cref="SocketOptions.HandshakeInterval"/> is over; the token is cancelled then. Calls may overlap. What it throws is answered
    /// with 500 and told in the event of this side. For endpoints made afterwards.
    /// </summary>
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
