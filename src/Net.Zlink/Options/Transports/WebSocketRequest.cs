using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Protocol.WebSocket;

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

    internal static WebSocketRequest? Of(UpgradeHead? head, EndPoint? remote, X509Certificate2? certificate) => head is null ? null
        : new WebSocketRequest(head, remote, certificate);
}

/// <summary>An answer to a <see cref="WebSocketRequest"/>. The default value accepts the peer.</summary>
public readonly struct WebSocketAdmission
{
    private const int LeastStatus = 400;
    private const int LargestStatus = 599;

    // It is in the status line and the body of the response, and a part of the event.
    private const int LongestReason = 200;

    private WebSocketAdmission(int status, string reason)
    {
        Status = status;
        Reason = reason;
    }

    /// <summary>Accepts the peer.</summary>
    public static WebSocketAdmission Accept => default;

    /// <summary>The peer is accepted.</summary>
    public bool IsAccepted => Status == 0;

    internal int Status { get; }

    internal string? Reason { get; }

    /// <summary>Refuses the peer with an HTTP status, and closes its connection.</summary>
    /// <param name="status">
    /// The HTTP status, 400 to 599: 401 for missing authentication, 403 for a forbidden peer, 503 for a busy server.
    /// </param>
    /// <param name="reason">
    /// One sentence about the cause, for the status line and the body of the response, and for this side's event. At most 200 characters.
    /// Browsers do not show it to the page.
    /// </param>
    /// <returns>The answer.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The status is not 4xx or 5xx.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="reason"/> is null.</exception>
    /// <exception cref="ArgumentException"><paramref name="reason"/> is longer, or not printable ASCII.</exception>
    public static WebSocketAdmission Refuse(int status = 403, string reason = "This peer may not connect here")
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(status, LeastStatus);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(status, LargestStatus);
        ArgumentNullException.ThrowIfNull(reason);
        return reason.Length <= LongestReason && !reason.AsSpan().ContainsAnyExceptInRange(' ', '~')
            ? new WebSocketAdmission(status, reason)
            : throw new ArgumentException("A reason has at most 200 printable ASCII characters.", nameof(reason));
    }
}
