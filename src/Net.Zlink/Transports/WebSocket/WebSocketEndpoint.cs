using System.Buffers;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Transports.Tcp;
using Net.Zlink.Transports.Tls;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>As in the native core any path connects, unless the options restrict it. <paramref name="target"/>: path and query.</summary>
internal sealed class WebSocketEndpoint(EndpointText text, TcpAddress address, string target) : TcpEndpoint(text, address)
{
    /// <summary>The longest path and query to send or bind: half of the longest request head.</summary>
    public const int LongestTarget = 16 * 1024;

    private static readonly SearchValues<char> s_notOfHosts = SearchValues.Create("/?#*@ ");

    private readonly int _query = target.IndexOf('?', StringComparison.Ordinal);

    public override string Path => _query < 0 ? target : target[.._query];

    public override string Query => _query < 0 ? "" : target[(_query + 1)..];

    private bool IsSecure => Scheme is EndpointText.Wss;

    public static new TransportEndpoint? Parse(in EndpointText text, EndpointUse use, out EndpointError error)
    {
        int end = text.Remainder.AsSpan().IndexOfAny('/', '?');
        string authority = end < 0 ? text.Remainder : text.Remainder[..end];
        string target = end < 0 ? "/" : text.Remainder[end] == '/' ? text.Remainder[end..] : $"/{text.Remainder[end..]}";
        error = Check(target);
        if (error.Code != ZlinkError.None || TcpAddress.Parse(authority, use, out error) is not { } address)
        {
            return null;
        }

        if (use == EndpointUse.Connect && address.Port == 0)
        {
            error = EndpointError.Invalid("port 0 cannot be connected to; use the port that Bind returned");
            return null;
        }

        return new WebSocketEndpoint(text, address, target);
    }

    public static new string Format(EndPoint? address, string scheme, RedactedEndpoint endpoint)
    {
        string shown = endpoint.ToString();
        int slash = shown.IndexOf('/', EndpointText.SchemeLength(shown));
        return address is not IPEndPoint ? "" : $"{TcpEndpoint.Format(address, scheme, endpoint)}{(slash < 0 ? "/" : shown[slash..])}";
    }

    public override BindResult Listen(TransportSettings settings)
    {
        TlsUpgrade? tls = null;
        string? complaint = Check(settings.WebSocket) ?? (IsSecure ? TlsUpgrade.CreateServer(settings, out tls) : null);
        return complaint is not null ? new BindResult(null, EndpointError.Invalid(complaint))
            : TcpBinder.Bind(this, settings.Tcp, new WebSocketServerUpgrade(tls, settings));
    }

    public override string BoundText(IPEndPoint local) =>
        string.Create(CultureInfo.InvariantCulture, $"{Scheme}://{InUrl(Host)}:{local.Port}{target}");

    /// <summary>The request is without the zone of an IPv6 address, which is local to this machine (RFC 6874, 4).</summary>
    public override WireUpgrade DialUpgrade(TransportSettings settings) => new WebSocketClientUpgrade(
        IsSecure ? TlsUpgrade.CreateClient(settings, Host) : null,
        string.Create(CultureInfo.InvariantCulture, $"{InUrl(Host.Split('%')[0])}:{Port}"),
        target, settings);

    private string InUrl(string host) => Address.Host.Address?.AddressFamily == AddressFamily.InterNetworkV6 ? $"[{host}]" : host;

    /// <summary>Refuses what a request line cannot have: blanks, control characters, non-ASCII, a fragment.</summary>
    private static EndpointError Check(string target) => target.Length > LongestTarget
        ? EndpointError.Invalid($"path and query have {target.Length} characters; {LongestTarget} is the most")
        : target.AsSpan().ContainsAnyExceptInRange('!', '~') || target.Contains('#', StringComparison.Ordinal)
            ? EndpointError.Invalid(
                $"the path {EndpointError.Quote(target.Split('?')[0])} or its query holds a character that no request can carry; write it "
                + $"percent-encoded")
            : EndpointError.None;

    /// <summary>
    /// Finds entries that match no request: an origin is a scheme, a host and a non-default port (RFC 6454, 6.2), and a path begins with a
    /// slash.
    /// </summary>
    private static string? Check(WebSocketTransportOptions options) =>
        options.AllowedOrigins.FirstOrDefault(static one => !IsOrigin(one)) is { } origin
            ? $"{EndpointError.Quote(origin)} in WebSocket.AllowedOrigins is not an origin; write https://shop.example or "
                + $"http://localhost:8080, without a path, or leave the list empty to let every page in"
            : options.AllowedPaths.FirstOrDefault(static one => !one.StartsWith('/')) is { } path
                ? $"{EndpointError.Quote(path)} in WebSocket.AllowedPaths is not a path; write /chat, or leave the list empty to let any "
                    + $"be asked for"
                : null;

    private static bool IsOrigin(string text) => text is "null" or "file://"
        || (text.IndexOf("://", StringComparison.Ordinal) is var at and > 0 && at + 3 < text.Length
            && text.AsSpan(at + 3).IndexOfAny(s_notOfHosts) < 0);
}
