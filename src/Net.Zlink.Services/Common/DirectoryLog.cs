using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>What directories and their followers log: 2150 to 2169.</summary>
internal static partial class ServicesLog
{
    [LoggerMessage(2150, LogLevel.Warning, "The DNS query of {Host} failed; the last known instances of {Service} stay")]
    public static partial void QueryFailed(ILogger logger, Exception exception, string host, string service);

    [LoggerMessage(2151, LogLevel.Information, "The DNS query of {Host} works again: {Service} has {Count} instances")]
    public static partial void QueryWorksAgain(ILogger logger, string host, string service, int count);

    [LoggerMessage(2152, LogLevel.Warning, "{Endpoint} of {Service} cannot be connected")]
    public static partial void InstanceUnusable(ILogger logger, Exception exception, string endpoint, string service);
}
