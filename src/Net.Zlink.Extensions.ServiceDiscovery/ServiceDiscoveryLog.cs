using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.ServiceDiscovery;

/// <summary>Event ids are stable: 2450 to 2499.</summary>
internal static partial class ServiceDiscoveryLog
{
    [LoggerMessage(2450, LogLevel.Warning, "Resolving {Service} failed; its last known instances are kept")]
    public static partial void ResolvingFailed(ILogger logger, Exception exception, string service);

    [LoggerMessage(2451, LogLevel.Warning, "Following {Service} in the directory failed; its endpoints are read again at the next query")]
    public static partial void FollowingFailed(ILogger logger, Exception exception, string service);
}
