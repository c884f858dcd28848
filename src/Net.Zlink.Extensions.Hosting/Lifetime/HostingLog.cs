using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Event ids are stable.</summary>
internal static partial class HostingLog
{
    [LoggerMessage(1, LogLevel.Information, "{Part} is bound to {Endpoint}")]
    public static partial void Bound(ILogger logger, string part, RedactedEndpoint endpoint);

    [LoggerMessage(2, LogLevel.Information, "{Part} connects to {Endpoint}")]
    public static partial void Connects(ILogger logger, string part, RedactedEndpoint endpoint);

    [LoggerMessage(3, LogLevel.Information,
        "{Part} has stopped listening; {Peers} peers are connected; "
        + "the application received the last {Messages} messages in {Milliseconds:0} ms")]
    public static partial void SocketDrained(ILogger logger, string part, int peers, long messages, double milliseconds);

    [LoggerMessage(4, LogLevel.Warning, "{Part} ends with {Messages} messages that the application has not received")]
    public static partial void Unread(ILogger logger, string part, long messages);

    [LoggerMessage(5, LogLevel.Information, "The context {Context} has ended in {Milliseconds:0} ms; all accepted messages are delivered")]
    public static partial void ContextEnded(ILogger logger, string context, double milliseconds);

    [LoggerMessage(6, LogLevel.Warning, "The context {Context} has ended before all messages were delivered: {Report}")]
    public static partial void ContextCut(ILogger logger, string context, string report);

    [LoggerMessage(7, LogLevel.Warning, "{Part} was not drained completely: the host's shutdown timeout has passed")]
    public static partial void DrainCut(ILogger logger, string part);

    [LoggerMessage(9, LogLevel.Information,
        "{Part} is drained: it served {Accepted} further requests, refused {Refused} and left {Unfinished} in {Milliseconds:0} ms")]
    public static partial void ReceiverDrained(
        ILogger logger, string part, long accepted, long refused, int unfinished, double milliseconds);

    [LoggerMessage(11, LogLevel.Error,
        "{Part} ends with {Count} unfinished requests: {Handler} ignores its cancellation token, or blocks")]
    public static partial void HandlersCut(ILogger logger, string part, int count, string handler);

    [LoggerMessage(10, LogLevel.Information, "{Part} follows the service {Service}")]
    public static partial void Follows(ILogger logger, string part, string service);

    [LoggerMessage(12, LogLevel.Information,
        "{Setting} is not used, because this program does not register it; under {Kind} it registers {Names}")]
    public static partial void Unused(ILogger logger, string setting, string kind, string names);

    [LoggerMessage(13, LogLevel.Information, "{Part} waits {Limit} at most for the application to receive {Messages} messages")]
    public static partial void SocketDrains(ILogger logger, string part, long messages, TimeSpan limit);

    [LoggerMessage(8, LogLevel.Error, "The services of a connection of {Handler} could not be disposed")]
    public static partial void ScopeFailed(ILogger logger, Exception exception, string handler);
}
