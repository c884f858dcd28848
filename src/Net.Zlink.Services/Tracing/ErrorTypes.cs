namespace Net.Zlink.Services;

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
