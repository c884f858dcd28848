namespace Net.Zlink.Services;

/// <summary>A service did not do what it was asked.</summary>
public sealed class ServiceException : Exception
{
    /// <summary>An exception without a cause.</summary>
    public ServiceException()
    {
    }

    /// <summary>An exception with a message alone.</summary>
    /// <param name="message">The message.</param>
    public ServiceException(string message)
        : base(message)
    {
    }

    /// <summary>An exception with what caused it.</summary>
    /// <param name="message">The message.</param>
    /// <param name="innerException">The cause.</param>
    public ServiceException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }

    /// <summary>An exception with all details.</summary>
    /// <param name="error">The cause.</param>
    /// <param name="message">The message.</param>
    /// <param name="code">The number that the other side gave, or 0.</param>
    /// <param name="wasExecuted">Whether a receiver may have executed the request.</param>
    public ServiceException(ServiceError error, string message, ushort code = 0, bool wasExecuted = false)
        : base(message)
    {
        Error = error;
        Code = code;
        WasExecuted = wasExecuted;
    }

    /// <summary>The cause.</summary>
    public ServiceError Error { get; }

    /// <summary>
    /// The number that the other side gave: the code of a failed or refused request, the status byte of a refused registration; else 0.
    /// </summary>
    public ushort Code { get; }

    /// <summary>What the receiver said with its code, without what this side knows of it; null: nothing.</summary>
    public string? Reason { get; init; }

    /// <summary>Whether a receiver executed the request, or may have. False: it is safe to send it again.</summary>
    public bool WasExecuted { get; }
}

/// <summary>
/// Why a service did not do what it was asked. Time that has passed is a <see cref="TimeoutException"/>, a cancelled token an
/// <see cref="OperationCanceledException"/>.
/// </summary>
public enum ServiceError
{
    /// <summary>The cause is unknown.</summary>
    None = 0,

    /// <summary>No receiver serves it, or none can be reached.</summary>
    NoReceiver,

    /// <summary>The connection to the receiver ended before its reply came: whether the request was executed is not known.</summary>
    ReceiverLost,

    /// <summary>All tried receivers refused the request; none executed it.</summary>
    Refused,

    /// <summary>The receiver executed the request and reports a failure.</summary>
    Failed,

    /// <summary>No registry accepted the registration.</summary>
    RegistrationRefused,
}
