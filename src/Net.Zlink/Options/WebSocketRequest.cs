using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Protocol.WebSocket;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>What a peer asked for a WebSocket with: an HTTP request. Immutable, and safe for any number of threads. What is asked of it is
/// looked for in the request each time, some microseconds.</summary>
public readonly record struct WebSocketRequest
{
    private readonly UpgradeHead _head;

    internal WebSocketRequest(UpgradeHead head, EndPoint? remote, X509Certificate2? certificate)
    {
        _head = head;
        RemoteEndPoint = remote;
        RemoteCertificate = certificate;
    }

    /// <summary>The path that was asked for, such as "/chat", as the peer wrote it: not unescaped.</summary>
    public string Path => _head?.Path ?? "";

    /// <summary>What stands behind the path, from the question mark on, such as "?token=1", as the peer wrote it; empty where nothing
    /// does.</summary>
    public string Query => _head?.Query ?? "";

    /// <summary>The origin of the page that a browser sent it for; null from those who are none.</summary>
    public string? Origin => _head?.Origin;

    /// <summary>The address that it came from: that of a proxy, where there is one in front of this process. Null where the system does not
    /// tell, and of a ZMP peer (<see cref="Message.RemoteAddress"/> has it).</summary>
    public EndPoint? RemoteEndPoint { get; }

    /// <summary>The certificate that the peer showed, over wss; null where it showed none.</summary>
    public X509Certificate2? RemoteCertificate { get; }

    /// <summary>A field of the request, such as "Cookie" or "X-Forwarded-For".</summary>
    /// <param name="name">Its name; letter case does not matter.</param>
    /// <returns>Its value; where it occurs more than once, all of them with ", " between; null where it does not occur.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="name"/> is null.</exception>
    public string? GetHeader(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return _head?.Header(name);
    }

    /// <summary>The path, without the query, which may be a secret.</summary>
    /// <returns>As the peer wrote it.</returns>
    public override string ToString() => Path;

    internal static WebSocketRequest? Of(PeerIdentity peer) => Of(peer.Request, null, peer.Certificate);

    /// <summary>Of a connection; null where there was no request.</summary>
    internal static WebSocketRequest? Of(UpgradeHead? head, EndPoint? remote, X509Certificate2? certificate) => head is null ? null
        : new WebSocketRequest(head, remote, certificate);
}
