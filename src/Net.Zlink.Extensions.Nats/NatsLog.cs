using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.Nats;

/// <summary>Event ids are stable: 2320 to 2339.</summary>
internal static partial class NatsLog
{
    [LoggerMessage(2320, LogLevel.Warning, "The bucket {Bucket} cannot be read; the last known instances are kept")]
    public static partial void ReadingFailed(ILogger logger, Exception exception, string bucket);

    [LoggerMessage(2321, LogLevel.Information, "The bucket {Bucket} can be read again")]
    public static partial void ReadingWorksAgain(ILogger logger, string bucket);

    [LoggerMessage(2322, LogLevel.Warning, "The entry of {Service} at {Endpoint} in the bucket {Bucket} was ignored: {Reason}")]
    public static partial void EntryIgnored(ILogger logger, string service, RedactedEndpoint endpoint, string bucket, string reason);

    [LoggerMessage(2323, LogLevel.Warning, "The lease of {Service} at {Endpoint} cannot be renewed; the renewal is retried")]
    public static partial void RenewalFailed(ILogger logger, Exception exception, string service, RedactedEndpoint endpoint);

    [LoggerMessage(2324, LogLevel.Information, "The lease of {Service} at {Endpoint} is renewed again")]
    public static partial void RenewalWorksAgain(ILogger logger, string service, RedactedEndpoint endpoint);

    [LoggerMessage(2325, LogLevel.Information, "The lease of {Service} at {Endpoint} was not removed; it expires by itself")]
    public static partial void RemovalFailed(ILogger logger, Exception exception, string service, RedactedEndpoint endpoint);
}
