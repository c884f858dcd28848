namespace Net.Zlink.Services;

/// <summary>
/// Why a service did not do what it was asked. Time that has passed is a <see cref="TimeoutException"/>, a cancelled token an
/// <see cref="OperationCanceledException"/>.
/// </summary>
public enum ServiceError
{
    /// <summary>Nothing is known of the cause.</summary>
    None = 0,

    /// <summary>Nobody serves it, or nobody who does can be reached.</summary>
    NoReceiver,

    /// <summary>The connection to the receiver ended before its reply came: whether the request was executed is not known.</summary>
    ReceiverLost,

    /// <summary>Each receiver that was asked refused the request; none executed it.</summary>
    Refused,

    /// <summary>The receiver executed the request and reports a failure.</summary>
    Failed,

    /// <summary>No registry accepted the registration.</summary>
    RegistrationRefused,
}
