using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>What a SPOT node logs: 2300 to 2399. Event ids are stable: a retired one is never used again.</summary>
internal static partial class SpotLog
{
    [LoggerMessage(2300, LogLevel.Error, "A handler of a subscriber failed and gets the next message")]
    public static partial void HandlerFailed(ILogger logger, Exception exception);

    [LoggerMessage(2301, LogLevel.Warning, "The node at {Endpoint} cannot be connected: {Reason}")]
    public static partial void PeerUnusable(ILogger logger, string endpoint, string reason);

    [LoggerMessage(2302, LogLevel.Information, "The node at {Endpoint} is connected: {Why}")]
    public static partial void PeerAdded(ILogger logger, string endpoint, string why);

    [LoggerMessage(2303, LogLevel.Information, "The node at {Endpoint} was disconnected: nothing names it any more")]
    public static partial void PeerRemoved(ILogger logger, string endpoint);

    [LoggerMessage(2304, LogLevel.Error, "The directory of SPOT nodes failed; its last list stays")]
    public static partial void DirectoryFailed(ILogger logger, Exception exception);

    [LoggerMessage(2305, LogLevel.Warning, "A subscriber reads slower than messages come: {Dropped} were dropped so far")]
    public static partial void SubscriberDrops(ILogger logger, long dropped);
}
