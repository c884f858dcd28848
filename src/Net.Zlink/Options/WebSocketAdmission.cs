using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink;

/// <summary>An answer to a <see cref="WebSocketRequest"/>. The default value lets the peer in.</summary>
public readonly record struct WebSocketAdmission
{
    private const int LeastStatus = 400;
    private const int LargestStatus = 599;

    // Goes into the answer's body and into the event.
    private const int LongestReason = 200;

    private WebSocketAdmission(int status, string reason) => Refusal = new UpgradeRefusal(status, reason);

    /// <summary>The peer may come in.</summary>
    public static WebSocketAdmission Accept => default;

    /// <summary>True: it may.</summary>
    public bool IsAccepted => Refusal.Status == 0;

    internal UpgradeRefusal Refusal { get; }

    /// <summary>The peer may not: it is answered so, and its connection ends.</summary>
    /// <param name="status">The HTTP status, 400 to 599: 401 who has not said who it is, 403 who may not, 503 now is a bad time.</param>
    /// <param name="reason">One sentence for whoever looks for the cause: the body of the answer, and in the event of this side. At most
    /// 200 characters; browsers do not show it to the page.</param>
    /// <returns>The answer.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The status is no 4xx or 5xx.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="reason"/> is null.</exception>
    /// <exception cref="ArgumentException"><paramref name="reason"/> is longer, or has something in it that is no printable
    /// ASCII.</exception>
    public static WebSocketAdmission Refuse(int status = 403, string reason = "This peer may not connect here")
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(status, LeastStatus);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(status, LargestStatus);
        ArgumentNullException.ThrowIfNull(reason);
        return reason.Length <= LongestReason && !reason.AsSpan().ContainsAnyExceptInRange(' ', '~')
            ? new WebSocketAdmission(status, reason)
            : throw new ArgumentException("A reason is at most 200 characters of printable ASCII.", nameof(reason));
    }
}
