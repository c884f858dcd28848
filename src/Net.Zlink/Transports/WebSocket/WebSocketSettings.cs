using System.Buffers;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>What an endpoint was told about WebSocket: a snapshot of the socket's options.</summary>
internal sealed record WebSocketSettings
{
    private static readonly SearchValues<char> s_notOfHosts = SearchValues.Create("/?#*@ ");

    /// <summary>Origins that browsers may come from; empty: any. A request without an origin comes from no browser and passes.</summary>
    public IReadOnlyCollection<string> AllowedOrigins { get; init; } = [];

    /// <summary>Paths that may be asked for; empty: any, as natively.</summary>
    public IReadOnlyCollection<string> AllowedPaths { get; init; } = [];

    /// <summary>The application's own judgement of a request that the lists let in; null: none.</summary>
    public Func<UpgradeContext, ValueTask<UpgradeRefusal>>? Admission { get; init; }

    /// <summary>What no request can ever match: an origin is a scheme, a host and, where it is not the scheme's own, a port (RFC 6454,
    /// 6.2), and a path begins with a slash. Null: nothing.</summary>
    public string? Check()
    {
        if (AllowedOrigins.FirstOrDefault(static one => !IsOrigin(one)) is { } origin)
        {
            return $"{EndpointError.Quote(origin)} in WebSocket.AllowedOrigins is no origin; write https://shop.example or "
                + $"http://localhost:8080, without a path, or leave the list empty to let every page in";
        }

        return AllowedPaths.FirstOrDefault(static one => !one.StartsWith('/')) is { } path
            ? $"{EndpointError.Quote(path)} in WebSocket.AllowedPaths is no path; write /chat, or leave the list empty to let any be "
                + $"asked for"
            : null;
    }

    // Pages without an origin of their own say "null", and those of files in some programs "file://".
    private static bool IsOrigin(string text) => text is "null" or "file://"
        || (text.IndexOf("://", StringComparison.Ordinal) is var at and > 0 && at + 3 < text.Length
            && text.AsSpan(at + 3).IndexOfAny(s_notOfHosts) < 0);
}
