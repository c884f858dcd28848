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

    /// <summary>An exception with everything that is known.</summary>
    /// <param name="error">The cause.</param>
    /// <param name="message">The message.</param>
    /// <param name="code">What the other side said, where it said something.</param>
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

    /// <summary>Whether a receiver executed the request, or may have. False: it is safe to send it again.</summary>
    public bool WasExecuted { get; }
}
