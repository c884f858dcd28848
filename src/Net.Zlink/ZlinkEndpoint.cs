using System.Diagnostics.CodeAnalysis;
using System.Net;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Ipc;
using Net.Zlink.Transports.Tcp;
using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink;

/// <summary>An endpoint in its parts, such as <c>tcp://127.0.0.1:5555</c>, read by the rules of <see cref="ZlinkSocket.Bind"/> and
/// <see cref="ZmpSocket.Connect(string)"/>: docs/protocol.md section 15.5.</summary>
/// <remarks>Immutable, and so safe for any number of threads. Two are equal when their texts are. <see cref="ToString"/> is for logs: it
/// has no query, which may hold a secret. <see cref="Text"/> is for sockets.</remarks>
public sealed class ZlinkEndpoint : IEquatable<ZlinkEndpoint>
{
    private ZlinkEndpoint(string text, string scheme) => (Text, Scheme) = (text, scheme);

    /// <summary>The whole text, as <see cref="Parse"/> got it. It may hold a secret in its query: do not log it.</summary>
    public string Text { get; }

    /// <summary>The transport: tcp, tls, ws, wss, ipc or inproc.</summary>
    public string Scheme { get; }

    /// <summary>A name, an address without brackets, or <c>*</c> for every address of this machine. Empty for ipc and inproc.</summary>
    public string Host { get; private init; } = "";

    /// <summary>The port; null for ipc and inproc, and for any free port (0 or <c>*</c>).</summary>
    public int? Port { get; private init; }

    /// <summary>ws and wss: the path, beginning with <c>/</c>. ipc: the file, or <c>@</c> and a name, or <c>*</c>. inproc: the name. Empty
    /// for tcp and tls.</summary>
    public string Path { get; private init; } = "";

    /// <summary>ws and wss: what stands behind <c>?</c>. Empty without one. It may hold a secret: do not log it.</summary>
    public string Query { get; private init; } = "";

    /// <summary>The host stands for every address of this machine: <c>*</c>, <c>0.0.0.0</c> or <c>::</c>. Nobody can connect to
    /// it.</summary>
    public bool IsWildcardHost => Host is "*" || (IPAddress.TryParse(Host, out IPAddress? address)
        && (address.Equals(IPAddress.Any) || address.Equals(IPAddress.IPv6Any) || address.Equals(IPAddress.Any.MapToIPv6())));

    /// <summary>A socket can connect to it: it names one place, and not each address or any free port.</summary>
    public bool CanConnect => Scheme is EndpointText.Inproc || Endpoints.TryParseConnect(Text, out _, out _);

    /// <summary>Reads an endpoint that a socket can bind or connect to.</summary>
    /// <param name="text">The text.</param>
    /// <returns>The endpoint.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="text"/> is null.</exception>
    /// <exception cref="FormatException">It is no endpoint. The message says what to write, and shows no user information, query or
    /// fragment.</exception>
    public static ZlinkEndpoint Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        return TryParse(text, out ZlinkEndpoint? endpoint, out EndpointError error)
            ? endpoint
            : throw new FormatException($"{EndpointError.QuoteEndpoint(text)} is not an endpoint: {error.Sentence}.");
    }

    /// <summary>As <see cref="Parse"/>, without an exception.</summary>
    /// <param name="text">The text; null is no endpoint.</param>
    /// <param name="endpoint">The endpoint.</param>
    /// <returns>False: it is no endpoint.</returns>
    public static bool TryParse([NotNullWhen(true)] string? text, [NotNullWhen(true)] out ZlinkEndpoint? endpoint)
    {
        endpoint = null;
        return text is not null && TryParse(text, out endpoint, out _);
    }

    /// <summary>A text for logs, spans and exceptions, of an endpoint or of a text that is none: user information, query and fragment are
    /// left out, since each may hold a secret.</summary>
    /// <param name="text">The text.</param>
    /// <returns>The text without them; a mark stands in their place.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="text"/> is null.</exception>
    public static string WithoutSecrets(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        return EndpointText.Redact(text);
    }

    /// <summary>The endpoint for logs, spans and exceptions: without its query.</summary>
    /// <returns>The text.</returns>
    public override string ToString() => EndpointText.Redact(Text);

    /// <inheritdoc/>
    public bool Equals(ZlinkEndpoint? other) => other is not null && string.Equals(Text, other.Text, StringComparison.Ordinal);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as ZlinkEndpoint);

    /// <inheritdoc/>
    public override int GetHashCode() => Text.GetHashCode(StringComparison.Ordinal);

    private static bool TryParse(string text, [NotNullWhen(true)] out ZlinkEndpoint? endpoint, out EndpointError error)
    {
        endpoint = null;
        if (!EndpointText.TryParse(text, out EndpointText parts, out error))
        {
            return false;
        }

        switch (parts.Scheme)
        {
            case EndpointText.Inproc:
                endpoint = new ZlinkEndpoint(text, parts.Scheme) { Path = parts.Remainder };
                return true;
            case EndpointText.Ipc when IpcAddress.TryParseBind(parts.Remainder, out _, out error):
                endpoint = new ZlinkEndpoint(text, parts.Scheme) { Path = parts.Remainder };
                return true;
            case EndpointText.Tcp or EndpointText.Tls when TryParseHost(parts.Remainder, out TcpHost? host, out int port, out error):
                endpoint = new ZlinkEndpoint(text, parts.Scheme) { Host = host.Text, Port = PortOf(port) };
                return true;
            case EndpointText.Ws or EndpointText.Wss when WebSocketPath.TrySplit(
                parts.Remainder, out string authority, out string path, out error)
                && TryParseHost(authority, out TcpHost? host, out int port, out error):
                int query = path.IndexOf('?', StringComparison.Ordinal);
                endpoint = new ZlinkEndpoint(text, parts.Scheme)
                {
                    Host = host.Text,
                    Port = PortOf(port),
                    Path = query < 0 ? path : path[..query],
                    Query = query < 0 ? "" : path[(query + 1)..],
                };
                return true;
            default:
                return false;
        }
    }

    /// <summary>A source address, which may stand before a semicolon, is no part of who the peer is.</summary>
    private static bool TryParseHost(string text, [NotNullWhen(true)] out TcpHost? host, out int port, out EndpointError error)
    {
        if (TcpConnectAddress.TryParse(text, out TcpConnectAddress remote, out error))
        {
            (host, port) = (remote.Host, remote.Port);
            return true;
        }

        bool isLocal = !text.Contains(';', StringComparison.Ordinal);
        if (isLocal && TcpBindAddress.TryParse(text, out TcpBindAddress local, out error))
        {
            (host, port) = (local.Host, local.Port);
            return true;
        }

        (host, port) = (null, 0);
        return false;
    }

    private static int? PortOf(int port) => port == 0 ? null : port;
}
