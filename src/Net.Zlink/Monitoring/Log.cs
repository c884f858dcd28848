using System.Net.Sockets;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Monitoring;

/// <summary>Event ids are stable: a removed id is never used again.</summary>
internal static partial class Log
{
    [LoggerMessage(1, LogLevel.Warning, "{Endpoint}: a connection was refused: {Why}")]
    public static partial void ConnectionRefused(ILogger logger, RedactedEndpoint endpoint, string why);

    [LoggerMessage(2, LogLevel.Warning, "{Endpoint}: accept failed with {Error}; accepting resumes in {BackOff} ms")]
    public static partial void AcceptFailed(ILogger logger, RedactedEndpoint endpoint, SocketError error, double backOff);

    [LoggerMessage(3, LogLevel.Error, "{Endpoint}: the listening socket failed with {Error} and was closed")]
    public static partial void ListenerClosed(ILogger logger, RedactedEndpoint endpoint, SocketError error);

    [LoggerMessage(4, LogLevel.Error, "Peer {PeerId} of {Endpoint}: the handler threw; the peer is being closed")]
    public static partial void HandlerFailed(ILogger logger, Exception exception, uint peerId, RedactedEndpoint endpoint);

    [LoggerMessage(5, LogLevel.Warning,
        "Shard {Shard} was held for {Milliseconds:F0} ms by {Work}; its other connections waited. Let handlers return at once, and await "
        + "what takes longer")]
    public static partial void SlowRun(ILogger logger, int shard, double milliseconds, string work);

    [LoggerMessage(6, LogLevel.Debug, "Peer {PeerId} of {Endpoint} has disconnected: {Reason}. {Detail}")]
    public static partial void PeerGone(ILogger logger, uint peerId, RedactedEndpoint endpoint, DisconnectReason reason, string detail);

    [LoggerMessage(7, LogLevel.Warning, "Peer {Peer} of {Endpoint}: {Messages} accepted messages ({Bytes} bytes) were not delivered")]
    public static partial void Undelivered(ILogger logger, string peer, RedactedEndpoint endpoint, long messages, long bytes);

    [LoggerMessage(8, LogLevel.Warning, "Shard {Shard} started {Milliseconds:F0} ms late: something blocks the threads of the thread pool")]
    public static partial void PoolStarved(ILogger logger, int shard, double milliseconds);

    [LoggerMessage(9, LogLevel.Debug, "{Endpoint}: the connection with {Remote}, {RoutingId}, ended: {Reason}. {Detail}")]
    public static partial void ConnectionLost(
        ILogger logger, RedactedEndpoint endpoint, RedactedEndpoint remote, string routingId, DisconnectReason reason, string detail);

    [LoggerMessage(10, LogLevel.Error, "{Endpoint}: an internal fault ended a connection; please report it")]
    public static partial void SessionFailed(ILogger logger, Exception exception, RedactedEndpoint endpoint);

    [LoggerMessage(11, LogLevel.Warning, "{Endpoint}: gave up connecting: {Why}. Fix the cause, then connect again")]
    public static partial void GaveUp(ILogger logger, RedactedEndpoint endpoint, string why);

    [LoggerMessage(12, LogLevel.Error, "A callback for socket events threw at {Event}; further events are delivered")]
    public static partial void EventCallbackFailed(ILogger logger, Exception exception, SocketEventTypes @event);

    [LoggerMessage(13, LogLevel.Warning, "{Endpoint}: a handshake with {Remote} failed: {Cause}. {Detail}")]
    public static partial void HandshakeFailed(
        ILogger logger, RedactedEndpoint endpoint, RedactedEndpoint remote, HandshakeFailure cause, string detail);

    [LoggerMessage(14, LogLevel.Warning, "{Endpoint}: cannot connect: {Why}. Trying again; this is logged once for each reason")]
    public static partial void CannotConnect(ILogger logger, RedactedEndpoint endpoint, string why);

    [LoggerMessage(15, LogLevel.Debug, "{Endpoint}: {Remote} disconnected during its handshake. {Detail}")]
    public static partial void HandshakeLost(ILogger logger, RedactedEndpoint endpoint, RedactedEndpoint remote, string detail);

    [LoggerMessage(16, LogLevel.Error, "A meter listener threw when an instrument was published or disposed; it may miss that instrument")]
    public static partial void MeterListenerFailed(ILogger logger, Exception exception);

    [LoggerMessage(17, LogLevel.Warning,
        "{Endpoint}: {Count} different warnings about its peers so far; further ones within {Seconds} s of the first are not logged. "
        + "Events and statistics include them all")]
    public static partial void WarningsLeftOut(ILogger logger, RedactedEndpoint endpoint, int count, double seconds);

    [LoggerMessage(18, LogLevel.Warning,
        "Shard {Shard} has been held for {Seconds:F1} s by {Work} and still is; its other connections wait. Let handlers return at once, "
        + "and await what takes longer")]
    public static partial void BlockedRun(ILogger logger, int shard, double seconds, string work);

    [LoggerMessage(19, LogLevel.Error,
        "The shutdown ended without shard {Shard}, which {Work} blocks beyond the deadline; its memory is freed when that "
        + "returns")]
    public static partial void ShardNotEnded(ILogger logger, int shard, string work);

    [LoggerMessage(20, LogLevel.Warning,
        "{Endpoint}: the connection with {Remote} was ended because the peer broke the protocol: {Detail}")]
    public static partial void PeerBrokeProtocol(ILogger logger, RedactedEndpoint endpoint, RedactedEndpoint remote, string detail);

    [LoggerMessage(21, LogLevel.Error, "An internal fault: a queue was not notified that the context has capacity again; please report it")]
    public static partial void CapacityNotNotified(ILogger logger, Exception exception);

    [LoggerMessage(22, LogLevel.Warning,
        "{Endpoint}: the connection with {Remote} was ended because the peer made this side hold too many bytes: {Detail}")]
    public static partial void PeerUnfinishedLimit(ILogger logger, RedactedEndpoint endpoint, RedactedEndpoint remote, string detail);

    [LoggerMessage(23, LogLevel.Warning, "{Endpoint}: {Why}")]
    public static partial void FilesNotRenewed(ILogger logger, RedactedEndpoint endpoint, string why);

    [LoggerMessage(24, LogLevel.Debug, "{Endpoint}: cannot connect: {Why}. The application decides when to try again")]
    public static partial void AttemptFailed(ILogger logger, RedactedEndpoint endpoint, string why);
}

/// <summary>
/// The application's logger without its exceptions. A log that cannot write (full disk, closed sink) must not end a connection or a
/// shutdown.
/// </summary>
internal sealed class GuardedLogger(ILogger inner) : ILogger
{
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => inner.BeginScope(state);

    public bool IsEnabled(LogLevel logLevel)
    {
        try
        {
            return inner.IsEnabled(logLevel);
        }
        catch (Exception)
        {
            return false;
        }
    }

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?,
        string> formatter)
    {
        try
        {
            inner.Log(logLevel, eventId, state, exception, formatter);
        }
        catch (Exception)
        {
            // There is no other place to report it.
        }
    }
}
