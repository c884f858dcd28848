namespace Net.Zlink.Services;

/// <summary>The tags of spans and metrics, after OpenTelemetry's conventions for messaging, version 1.39.0.</summary>
internal static class MessagingTags
{
    public const string System = "messaging.system";
    public const string Zlink = "zlink";
    public const string Destination = "messaging.destination.name";
    public const string OperationName = "messaging.operation.name";
    public const string OperationType = "messaging.operation.type";
    public const string Error = "error.type";
    public const string ServerAddress = "server.address";
    public const string ServerPort = "server.port";

    public static KeyValuePair<string, object?>[] Of(string operation, string operationType) =>
        [new(System, Zlink), new(OperationName, operation), new(OperationType, operationType)];
}

/// <summary>What the tag <see cref="MessagingTags.Error"/> says, in spans and metrics alike.</summary>
internal static class ErrorTypes
{
    public const string Failed = "failed";
    public const string Refused = "refused";
    public const string ReceiverLost = "receiver_lost";
    public const string TimedOut = "timed_out";
    public const string Cancelled = "cancelled";
    public const string NoReceiver = "no_receiver";
    public const string Ended = "ended";

    /// <summary>How a request ended.</summary>
    /// <returns>Null: with a reply.</returns>
    public static string? Of(RequestOutcomeKind kind) => kind switch
    {
        RequestOutcomeKind.Replied => null,
        RequestOutcomeKind.Failed => Failed,
        RequestOutcomeKind.Refused => Refused,
        RequestOutcomeKind.Lost => ReceiverLost,
        RequestOutcomeKind.TimedOut => TimedOut,
        RequestOutcomeKind.Cancelled => Cancelled,
        RequestOutcomeKind.NoReceiver => NoReceiver,
        _ => Ended,
    };

    /// <summary>What a request or its handler threw: for what is not of this library the name of the type.</summary>
    public static string Of(Exception exception) => exception switch
    {
        ServiceException { Error: ServiceError.Refused } => Refused,
        ServiceException { Error: ServiceError.ReceiverLost } => ReceiverLost,
        ServiceException { Error: ServiceError.NoReceiver } => NoReceiver,
        ServiceException => Failed,
        TimeoutException => TimedOut,
        OperationCanceledException => Cancelled,
        ObjectDisposedException or ZlinkException { Error: ZlinkError.ContextTerminated } => Ended,
        _ => exception.GetType().FullName ?? exception.GetType().Name,
    };
}
