using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>What a gateway logs: 2200 to 2299. Event ids are stable: a retired one is never used again.</summary>
internal static partial class GatewayLog
{
    [LoggerMessage(2200, LogLevel.Information, "The receiver at {Endpoint} is ready")]
    public static partial void ReceiverReady(ILogger logger, string endpoint);

    [LoggerMessage(2201, LogLevel.Information, "The receiver at {Endpoint} is not ready: {Reason}")]
    public static partial void ReceiverNotReady(ILogger logger, string endpoint, string reason);

    [LoggerMessage(2202, LogLevel.Information, "The receiver at {Endpoint} is about to end and gets no further requests")]
    public static partial void ReceiverDrains(ILogger logger, string endpoint);

    [LoggerMessage(2203, LogLevel.Warning, "The receiver at {Endpoint} cannot be connected: {Reason}")]
    public static partial void ReceiverUnusable(ILogger logger, string endpoint, string reason);

    [LoggerMessage(2204, LogLevel.Information, "The receiver at {Endpoint} is not listed any more and was disconnected")]
    public static partial void ReceiverDisconnected(ILogger logger, string endpoint);

    [LoggerMessage(2205, LogLevel.Warning,
        "{Count} messages were dropped so far: the application receives fewer than come while requests are outstanding")]
    public static partial void UnreadMessagesDropped(ILogger logger, long count);
}
