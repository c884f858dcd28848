using System.Net.Sockets;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports;

/// <summary><paramref name="Sentence"/>: what happened and what to do, in lower case without a full stop.</summary>
internal readonly record struct UpgradeResult(Wire? Wire, HandshakeFailure Cause, SocketError Error, string Sentence)
{
    /// <summary>After a reported failure: runs until the peer has ended its side, or a time limit.</summary>
    public Task? ErrorResponse { get; init; }

    public static UpgradeResult Of(Wire wire) => new(wire, default, SocketError.Success, "");

    public static UpgradeResult Cancelled { get; } =
        new(null, HandshakeFailure.Lost, SocketError.OperationAborted, "the socket was closed during the handshake");

    public static UpgradeResult Lost(string what, Exception exception) =>
        new(null, HandshakeFailure.Lost, IoStreamErrors.ErrorOf(exception),
            $"the connection was lost during {what}: {IoStreamErrors.WordsOf(exception)}");

    public static UpgradeResult TimedOut(string what, TimeSpan limit) =>
        new(null, HandshakeFailure.TimedOut, SocketError.TimedOut, $"{what} was not complete within {limit.TotalMilliseconds:0} ms");
}
