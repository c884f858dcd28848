using System.Net.Sockets;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports;

/// <summary>The outcome of a transport's own handshake.</summary>
/// <param name="Wire">The peer's bytes; null when it failed.</param>
/// <param name="Cause">Why it failed.</param>
/// <param name="Error">The system's error; OperationAborted when it was cancelled.</param>
/// <param name="Sentence">What went wrong and what to do, in lower case without a full stop; empty on success.</param>
internal readonly record struct UpgradeResult(Wire? Wire, HandshakeFailure Cause, SocketError Error, string Sentence)
{
    /// <summary>Of one that failed, where the peer has been told: goes on until it has ended its side, or the time for that is up. Never
    /// fails. Null: there is nothing to wait for.</summary>
    public Task? ErrorResponse { get; init; }

    /// <summary>A handshake that is complete.</summary>
    public static UpgradeResult Of(Wire wire) => new(wire, default, SocketError.Success, "");

    /// <summary>One that was given up because this side closes.</summary>
    public static UpgradeResult Cancelled { get; } =
        new(null, HandshakeFailure.Lost, SocketError.OperationAborted, "the socket was closed during the handshake");

    /// <summary>One whose connection ended: the peer closed it, or it broke.</summary>
    public static UpgradeResult Lost(string what, Exception exception) =>
        new(null, HandshakeFailure.Lost, IoStreamErrors.ErrorOf(exception),
            $"the connection was lost during {what}: {IoStreamErrors.WordsOf(exception)}");

    /// <summary>One that the time ran out for.</summary>
    public static UpgradeResult TimedOut(string what, TimeSpan limit) =>
        new(null, HandshakeFailure.TimedOut, SocketError.TimedOut, $"{what} was not complete within {limit.TotalMilliseconds:0} ms");
}
