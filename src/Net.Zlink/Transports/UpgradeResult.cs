using System.Net.Sockets;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports;

/// <summary>The outcome of a transport's handshake.</summary>
/// <param name="Wire">The peer's bytes, or null after a failure.</param>
/// <param name="Cause">Why it failed.</param>
/// <param name="Error">The system's error. OperationAborted after cancellation.</param>
/// <param name="Sentence">What happened and what to do, in lower case without a full stop. Empty on success.</param>
internal readonly record struct UpgradeResult(Wire? Wire, HandshakeFailure Cause, SocketError Error, string Sentence)
{
    /// <summary>
    /// After a reported failure: runs until the peer has ended its side, or a time limit. Never fails. Null: nothing to wait
    /// for.
    /// </summary>
    public Task? ErrorResponse { get; init; }

    public static UpgradeResult Of(Wire wire) => new(wire, default, SocketError.Success, "");

    /// <summary>Cancelled because this side closes.</summary>
    public static UpgradeResult Cancelled { get; } =
        new(null, HandshakeFailure.Lost, SocketError.OperationAborted, "the socket was closed during the handshake");

    /// <summary>The connection ended: the peer closed it, or it was lost.</summary>
    public static UpgradeResult Lost(string what, Exception exception) =>
        new(null, HandshakeFailure.Lost, IoStreamErrors.ErrorOf(exception),
            $"the connection was lost during {what}: {IoStreamErrors.WordsOf(exception)}");

    public static UpgradeResult TimedOut(string what, TimeSpan limit) =>
        new(null, HandshakeFailure.TimedOut, SocketError.TimedOut, $"{what} was not complete within {limit.TotalMilliseconds:0} ms");
}
