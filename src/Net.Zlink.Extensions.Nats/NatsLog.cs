using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.Nats;

/// <summary>Event ids are stable: 2400 to 2449.</summary>
internal static partial class NatsLog
{
    [LoggerMessage(2400, LogLevel.Warning, "The bucket {Bucket} cannot be read; the last known instances are kept")]
    public static partial void ReadingFailed(ILogger logger, Exception exception, string bucket);

    [LoggerMessage(2401, LogLevel.Information, "The bucket {Bucket} can be read again")]
    public static partial void ReadingWorksAgain(ILogger logger, string bucket);

    [LoggerMessage(2402, LogLevel.Warning, "The entry of {Service} at {Endpoint} in the bucket {Bucket} was ignored: {Reason}")]
    public static partial void EntryIgnored(ILogger logger, string service, RedactedEndpoint endpoint, string bucket, string reason);

    [LoggerMessage(2403, LogLevel.Warning, "The lease of {Service} at {Endpoint} cannot be renewed; the renewal is retried")]
    public static partial void RenewalFailed(ILogger logger, Exception exception, string service, RedactedEndpoint endpoint);

    [LoggerMessage(2404, LogLevel.Information, "The lease of {Service} at {Endpoint} is renewed again")]
    public static partial void RenewalWorksAgain(ILogger logger, string service, RedactedEndpoint endpoint);

    [LoggerMessage(2405, LogLevel.Information, "The lease of {Service} at {Endpoint} was not removed; it expires by itself")]
    public static partial void RemovalFailed(ILogger logger, Exception exception, string service, RedactedEndpoint endpoint);
}
