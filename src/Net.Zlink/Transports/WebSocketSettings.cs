using System.Buffers;
using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Protocol.WebSocket;

namespace Net.Zlink.Transports;

internal sealed record WebSocketSettings
{
    /// <summary>A browser's upgrade request has about 600 bytes without cookies, and 8 to 12 KiB with those of an identity provider. The
    /// native core's limit is 8 KiB.</summary>
    public const int DefaultUpgradeSize = 32 * 1024;

    private static readonly SearchValues<char> s_notOfHosts = SearchValues.Create("/?#*@ ");

    public IReadOnlyCollection<string> AllowedOrigins { get; init; } = [];

    public IReadOnlyCollection<string> AllowedPaths { get; init; } = [];

    public Func<UpgradeContext, ValueTask<UpgradeRefusal>>? Admission { get; init; }

    public int MaxUpgradeSize { get; init; } = DefaultUpgradeSize;

    public TimeSpan PingInterval { get; init; }

    /// <summary>Never in an event, log message or exception.</summary>
    public string RequestFields { get; init; } = "";

    public IReadOnlyList<string> SubProtocols { get; init; } = [];

    public IReadOnlyList<string> OfferedSubProtocols { get; init; } = [];

    /// <summary>
    /// Finds entries that match no request: an origin is a scheme, a host and a non-default port (RFC 6454, 6.2), and a path begins with a
    /// slash.
    /// </summary>
    public string? Check()
    {
        if (AllowedOrigins.FirstOrDefault(static one => !IsOrigin(one)) is { } origin)
        {
            return $"{EndpointError.Quote(origin)} in WebSocket.AllowedOrigins is not an origin; write https://shop.example or "
                + $"http://localhost:8080, without a path, or leave the list empty to let every page in";
        }

        return AllowedPaths.FirstOrDefault(static one => !one.StartsWith('/')) is { } path
            ? $"{EndpointError.Quote(path)} in WebSocket.AllowedPaths is not a path; write /chat, or leave the list empty to let any be "
                + $"asked for"
            : null;
    }

    private static bool IsOrigin(string text) => text is "null" or "file://"
        || (text.IndexOf("://", StringComparison.Ordinal) is var at and > 0 && at + 3 < text.Length
            && text.AsSpan(at + 3).IndexOfAny(s_notOfHosts) < 0);
}

internal readonly record struct UpgradeContext(
    UpgradeHead Head, EndPoint? Remote, X509Certificate2? Certificate, CancellationToken Cancellation);

internal readonly record struct UpgradeRefusal(int Status, string? Reason);
