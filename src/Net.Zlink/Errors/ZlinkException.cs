using System.Net.Sockets;
using Net.Zlink.Transports;

namespace Net.Zlink;

/// <summary>An error of the network, a peer or the context. Misuse of the API throws the usual .NET exceptions.</summary>
public sealed class ZlinkException : Exception
{
    /// <summary>An exception without a code: <see cref="ZlinkError.None"/>.</summary>
    public ZlinkException()
    {
    }

    /// <summary>An exception without a code: <see cref="ZlinkError.None"/>.</summary>
    /// <param name="message">What happened and what to do.</param>
    public ZlinkException(string message)
        : base(message)
    {
    }

    /// <summary>An exception without a code: <see cref="ZlinkError.None"/>.</summary>
    /// <param name="message">What happened and what to do.</param>
    /// <param name="innerException">The cause.</param>
    public ZlinkException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }

    /// <summary>An exception with a code.</summary>
    /// <param name="error">The code.</param>
    /// <param name="message">What happened and what to do.</param>
    /// <param name="innerException">The operating system's error, if there is one.</param>
    public ZlinkException(ZlinkError error, string message, Exception? innerException = null)
        : base($"{message} ({error})", innerException) => Error = error;

    /// <summary>The code.</summary>
    public ZlinkError Error { get; }

    internal static ZlinkException NoMemory() => new(
        ZlinkError.NoMemory,
        "no memory for a buffer, even after the pool released its retained buffers: send smaller messages, lower QueuedByteLimit and "
        + "UnfinishedByteLimit, or let the process use more memory");

    internal static ZlinkException ForEndpoint(RedactedEndpoint endpoint, in EndpointError error)
    {
        Exception? cause = error.OsError == SocketError.Success ? null : new SocketException((int)error.OsError);
        return new ZlinkException(error.Code, $"{RedactedEndpoint.Quote(endpoint)}: {error.Sentence}", cause);
    }

    internal static ZlinkException ForDial(RedactedEndpoint endpoint, in DialResult failure)
    {
        ZlinkError code = failure.Error switch
        {
            SocketError.TimedOut => ZlinkError.TimedOut,
            SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain or SocketError.NoRecovery => ZlinkError.NoDevice,
            SocketError.NetworkUnreachable or SocketError.NetworkDown => ZlinkError.NetworkUnreachable,
            SocketError.HostUnreachable or SocketError.HostDown => ZlinkError.HostUnreachable,
            SocketError.ConnectionReset => ZlinkError.ConnectionReset,
            SocketError.AccessDenied => ZlinkError.PermissionDenied,
            SocketError.TooManyOpenSockets => ZlinkError.TooManySockets,
            _ => ZlinkError.ConnectionRefused,
        };
        return new ZlinkException(
            code, $"{RedactedEndpoint.Quote(endpoint)}: {failure.Sentence}", new SocketException((int)failure.Error));
    }
}
