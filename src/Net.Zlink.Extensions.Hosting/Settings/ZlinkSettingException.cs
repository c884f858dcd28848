namespace Net.Zlink.Extensions.Hosting;

/// <summary>The host cannot start with a setting or an endpoint. The message names its key, or the part and the endpoint.</summary>
public sealed class ZlinkSettingException : InvalidOperationException
{
    /// <summary>An exception without a message.</summary>
    public ZlinkSettingException()
    {
    }

    /// <summary>An exception with a message alone.</summary>
    /// <param name="message">The message.</param>
    public ZlinkSettingException(string message)
        : base(message)
    {
    }

    /// <summary>An exception with what caused it.</summary>
    /// <param name="message">The message.</param>
    /// <param name="innerException">The cause.</param>
    public ZlinkSettingException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
