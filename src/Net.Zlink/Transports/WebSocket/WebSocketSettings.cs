namespace Net.Zlink.Transports.WebSocket;

/// <summary>What an endpoint was told about WebSocket: a snapshot of the socket's options.</summary>
internal sealed record WebSocketSettings
{
    /// <summary>Origins that browsers may come from; empty: any. A request without an origin comes from no browser and passes.</summary>
    public IReadOnlyCollection<string> AllowedOrigins { get; init; } = [];

    /// <summary>Paths that may be asked for; empty: any, as natively.</summary>
    public IReadOnlyCollection<string> AllowedPaths { get; init; } = [];
}
