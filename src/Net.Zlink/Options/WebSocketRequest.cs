using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Protocol.WebSocket;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>
/// A peer's HTTP request for a WebSocket. Immutable and thread-safe. Each property searches the request, which takes some microseconds.
/// </summary>
public readonly struct WebSocketRequest
{
    private readonly UpgradeHead _head;

    internal WebSocketRequest(UpgradeHead head, EndPoint? remote, X509Certificate2? certificate)
    {
        _head = head;
        RemoteEndPoint = remote;
        RemoteCertificate = certificate;
    }

    /// <summary>The requested path, such as "/chat", not unescaped.</summary>
    public string Path => _head?.Path ?? "";

    /// <summary>The query with its question mark, such as "?token=1", not unescaped. Empty if there is none.</summary>
    public string Query => _head?.Query ?? "";

    /// <summary>The origin of a browser's page. Null for other clients.</summary>
    public string? Origin => _head?.Origin;

    /// <summary>
    /// The peer's address, or that of a proxy in front of this process. Null if the system does not report it, and for a ZMP peer, which
    /// has <see cref="Message.RemoteAddress"/>.
    /// </summary>
    public EndPoint? RemoteEndPoint { get; }

    /// <summary>The peer's certificate over wss, or null.</summary>
    public X509Certificate2? RemoteCertificate { get; }

    /// <summary>Gets a field of the request, such as "Cookie" or "X-Forwarded-For".</summary>
    /// <param name="name">Its name. Case does not matter.</param>
    /// <returns>Its value, or null. Repeated fields are joined with ", ".</returns>
    /// <exception cref="ArgumentNullException"><paramref name="name"/> is null.</exception>
    public string? GetHeader(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return _head?.Header(name);
    }

    /// <summary>Returns the path without the query, which may be secret.</summary>
    /// <returns>The path, not unescaped.</returns>
    public override string ToString() => Path;

    internal static WebSocketRequest? Of(PeerIdentity peer) => Of(peer.Request, null, peer.Certificate);

    internal static WebSocketRequest? Of(UpgradeHead? head, EndPoint? remote, X509Certificate2? certificate) => head is null ? null
        : new WebSocketRequest(head, remote, certificate);
}
