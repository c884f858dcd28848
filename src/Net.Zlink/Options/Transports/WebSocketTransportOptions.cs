namespace Net.Zlink;

/// <summary>Options of ws and wss endpoints.</summary>
/// <remarks>Not thread-safe.</remarks>
public sealed class WebSocketTransportOptions
{
    // A browser's upgrade request has about 600 bytes without cookies, and 8 to 12 KiB with those of an identity provider. The native
    // core's limit is 8 KiB.
    private const int DefaultUpgradeSize = 32 * 1024;

    /// <summary>
    /// The allowed origins of browsers, such as "https://shop.example". Case does not matter. Empty (default): all, so any page in a
    /// browser on this machine can connect. Requests without an Origin field come from no browser and always pass. For endpoints made
    /// afterwards.
    /// </summary>
    public ISet<string> AllowedOrigins { get; private set; } = new HashSet<string>(StringComparer.OrdinalIgnoreCase);

    /// <summary>
    /// The allowed paths, such as "/chat"; others get 404. Empty (default): all, whatever the endpoint's own path, as in the native core.
    /// For endpoints made afterwards.
    /// </summary>
    public ISet<string> AllowedPaths { get; private set; } = new HashSet<string>(StringComparer.Ordinal);

    /// <summary>
    /// The application's check of each request that passes the lists, for example of a cookie, token or certificate. Null (default): all
    /// pass. For endpoints made afterwards.
    /// </summary>
    /// <remarks>
    /// It is called once per request on a thread of its own, so it may block or await until <see cref="SocketOptions.HandshakeInterval"/>;
    /// then the token is cancelled. Calls may overlap. An exception is answered with 500 and reported in this side's event.
    /// </remarks>
    public Func<WebSocketRequest, CancellationToken, ValueTask<WebSocketAdmission>>? Admission { get; set; }

    /// <summary>
    /// The sub-protocols that a listener speaks and that an endpoint that connects offers, best first, such as "chat.v2". A listener agrees
    /// on the first of the client's that is here, letter case included; without a common one it names none, and a browser that asked ends
    /// the connection. What was agreed on is <see cref="PeerInfo.SubProtocol"/>. Empty by default: a listener names none. For endpoints
    /// made afterwards.
    /// </summary>
    /// <remarks>
    /// Bind and Connect throw <see cref="ArgumentException"/> for a name that is no HTTP token, for one that is here twice, and if <see
    /// cref="RequestFields"/> has the field, too.
    /// </remarks>
    public IList<string> SubProtocols { get; private set; } = [];

    /// <summary>
    /// Fields of the request of an endpoint that connects, such as "Authorization", "Cookie" or "Sec-WebSocket-Protocol"; letter case of a
    /// name does not matter. Empty by default. Their values are in no event, log message, exception or description. A server may choose one
    /// of the sub-protocols that are named here. For endpoints made afterwards.
    /// </summary>
    /// <remarks>Bind and Connect throw <see cref="ArgumentException"/> for a name that is no HTTP token or that the request has already
    /// (Host, Upgrade, Connection, Content-Length, Transfer-Encoding, other Sec-WebSocket fields), for a value with a control character or
    /// one above U+00FF, and for more than 15 KiB in all.</remarks>
    public IDictionary<string, string> RequestFields { get; private set; } =
        new SortedDictionary<string, string>(StringComparer.OrdinalIgnoreCase);

    /// <summary>
    /// After how long without a write a PING is sent, so that proxies and NATs keep a quiet connection: many end it after 60 s. The peer's
    /// WebSocket answers with a PONG; both are invisible to applications. Zero: none. Default 30 seconds. Not for a
    /// <see cref="StreamPipe"/>. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan PingInterval { get; set => field = OptionRange.Time(value, mayBeInfinite: false); } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// The longest upgrade request that is accepted, and the longest answer to one, in bytes: 1 KiB to 1 MiB. A longer request is answered
    /// with 431. Default 32 KiB. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is out of range.</exception>
    public int MaxUpgradeSize { get; set => field = OptionRange.InRange(value, 1024, 1024 * 1024); } = DefaultUpgradeSize;

    internal IEnumerable<string> OfferedSubProtocols => RequestFields.TryGetValue(WebSocketRequestFields.SubProtocol, out string? protocols)
        ? protocols.Split(',', StringSplitOptions.TrimEntries) : SubProtocols;

    internal WebSocketTransportOptions Copy()
    {
        var copy = (WebSocketTransportOptions)MemberwiseClone();
        copy.AllowedOrigins = new HashSet<string>(AllowedOrigins, StringComparer.OrdinalIgnoreCase);
        copy.AllowedPaths = new HashSet<string>(AllowedPaths, StringComparer.Ordinal);
        copy.SubProtocols = [.. SubProtocols];
        copy.RequestFields = new SortedDictionary<string, string>(RequestFields, StringComparer.OrdinalIgnoreCase);
        return copy;
    }
}
