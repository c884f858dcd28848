using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>What discovery, registration and receiver log.</summary>
internal static partial class ServicesLog
{
    [LoggerMessage(2100, LogLevel.Error, "A handler of requests failed")]
    public static partial void HandlerFailed(ILogger logger, Exception exception);
}
