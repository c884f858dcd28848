using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink;

/// <summary>Options of ws and wss endpoints that are bound.</summary>
/// <remarks>Not synchronised: fill them from one thread at a time.</remarks>
public sealed class WebSocketOptions
{
    /// <summary>
    /// Origins that browsers may connect from, such as "https://shop.example"; letter case does not matter. Empty (default): any, so that every page that a user of this machine opens can connect. Requests without an Origin field come
    /// from no browser and always pass. For endpoints made afterwards.
    /// </summary>
    public ISet<string> AllowedOrigins { get; } = new HashSet<string>(StringComparer.OrdinalIgnoreCase);

    /// <summary>Paths that may be asked for, such as "/chat"; others are answered with 404. Empty (default): any, whatever the endpoint's own path is, as in the native core. For endpoints made afterwards.</summary>
    public ISet<string> AllowedPaths { get; } = new HashSet<string>(StringComparer.Ordinal);

    internal WebSocketSettings Snapshot() => new() { AllowedOrigins = [.. AllowedOrigins], AllowedPaths = [.. AllowedPaths] };
}
