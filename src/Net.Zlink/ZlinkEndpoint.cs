using System.Diagnostics.CodeAnalysis;
using System.Net;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink;

/// <summary>An endpoint in its parts, such as <c>tcp://127.0.0.1:5555</c>, read by the rules of <see cref="ZlinkSocket.Bind"/> and
/// <see cref="ZmpSocket.Connect(string)"/>: docs/protocol.md section 15.5.</summary>
/// <remarks>Immutable, and so safe for any number of threads. Two are equal when their texts are. <see cref="ToString"/> is for logs: it
/// has no query, which may hold a secret. <see cref="Text"/> is for sockets.</remarks>
public sealed class ZlinkEndpoint : IEquatable<ZlinkEndpoint>
{
    private readonly TransportEndpoint _parts;

    private ZlinkEndpoint(TransportEndpoint parts) => _parts = parts;

    /// <summary>The whole text, as <see cref="Parse"/> got it. It may hold a secret in its query: do not log it.</summary>
    public string Text => _parts.Text;

    /// <summary>The transport: tcp, tls, ws, wss, ipc or inproc.</summary>
    public string Scheme => _parts.Scheme;

    /// <summary>A name, an address without brackets, or <c>*</c> for every address of this machine. Empty for ipc and inproc.</summary>
    public string Host => _parts.Host;

    /// <summary>The port; null for ipc and inproc, and for any free port (0 or <c>*</c>).</summary>
    public int? Port => _parts.Port == 0 ? null : _parts.Port;

    /// <summary>ws and wss: the path, beginning with <c>/</c>. ipc: the file, or <c>@</c> and a name, or <c>*</c>. inproc: the name. Empty
    /// for tcp and tls.</summary>
    public string Path => _parts.Path;

    /// <summary>ws and wss: what stands behind <c>?</c>. Empty without one. It may hold a secret: do not log it.</summary>
    public string Query => _parts.Query;

    /// <summary>The host stands for every address of this machine: <c>*</c>, <c>0.0.0.0</c> or <c>::</c>. Nobody can connect to
    /// it.</summary>
    public bool IsWildcardHost => Host is "*" || (IPAddress.TryParse(Host, out IPAddress? address)
        && (address.Equals(IPAddress.Any) || address.Equals(IPAddress.IPv6Any) || address.Equals(IPAddress.Any.MapToIPv6())));

    /// <summary>A socket can connect to it: it names one place, and not each address or any free port.</summary>
    public bool CanConnect => TransportTable.TryParse(Text, EndpointUse.Connect, out _, out _);

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
            : throw new FormatException($"{RedactedEndpoint.Quote(text)} is not an endpoint: {error.Sentence}.");
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

    /// <summary>The endpoint for logs, spans and exceptions, as <see cref="RedactedEndpoint"/> shows it.</summary>
    /// <returns>The text.</returns>
    public override string ToString() => new RedactedEndpoint(Text).ToString();

    /// <inheritdoc/>
    public bool Equals(ZlinkEndpoint? other) => other is not null && string.Equals(Text, other.Text, StringComparison.Ordinal);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as ZlinkEndpoint);

    /// <inheritdoc/>
    public override int GetHashCode() => Text.GetHashCode(StringComparison.Ordinal);

    private static bool TryParse(string text, [NotNullWhen(true)] out ZlinkEndpoint? endpoint, out EndpointError error)
    {
        endpoint = TransportTable.TryParse(text, EndpointUse.Any, out TransportEndpoint parts, out error) ? new ZlinkEndpoint(parts) : null;
        return endpoint is not null;
    }
}
