using Net.Zlink.Transports;

namespace Net.Zlink;

/// <summary>An answer to a <see cref="WebSocketRequest"/>. The default value accepts the peer.</summary>
public readonly struct WebSocketAdmission
{
    private const int LeastStatus = 400;
    private const int LargestStatus = 599;

    // It is the body of the response and a part of the event.
    private const int LongestReason = 200;

    private WebSocketAdmission(int status, string reason) => Refusal = new UpgradeRefusal(status, reason);

    /// <summary>Accepts the peer.</summary>
    public static WebSocketAdmission Accept => default;

    /// <summary>The peer is accepted.</summary>
    public bool IsAccepted => Refusal.Status == 0;

    internal UpgradeRefusal Refusal { get; }

    /// <summary>Refuses the peer with an HTTP status, and closes its connection.</summary>
    /// <param name="status">
    /// The HTTP status, 400 to 599: 401 for missing authentication, 403 for a forbidden peer, 503 for a busy server.
    /// </param>
    /// <param name="reason">
    /// One sentence about the cause, for the body of the response and this side's event. At most 200 characters. Browsers do not show it to
    /// the page.
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
