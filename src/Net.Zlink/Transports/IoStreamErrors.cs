using System.Net.Sockets;
using System.Security.Authentication;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports;

internal static class IoStreamErrors
{
    /// <summary>Whether the network, the peer or a concurrent close caused this exception (TLS throws InvalidOperation then).</summary>
    public static bool IsOfStream(Exception exception) =>
        exception is IOException or SocketException or ObjectDisposedException or AuthenticationException or OperationCanceledException
            or InvalidOperationException or OutOfMemoryException;

    public static IOException Of(SocketError error)
    {
        var cause = new SocketException((int)error);
        return new IOException(cause.Message, cause);
    }

    public static SocketError ErrorOf(Exception exception)
    {
        for (Exception? e = exception; e is not null; e = e.InnerException)
        {
            if (e is SocketException { SocketErrorCode: not SocketError.Success } socket)
            {
                return socket.SocketErrorCode;
            }
        }

        return SocketError.ConnectionReset;
    }

    public static string WordsOf(Exception exception)
    {
        while (exception.InnerException is { } inner)
        {
            exception = inner;
        }

        return ExceptionText.MessageOf(exception);
    }
}

/// <summary>
/// A TLS session has read bytes that were no data, and would now wait. Its reader begins again, with a wait that holds no buffer.
/// </summary>
internal sealed class NoDataYetException() : IOException("no data yet");
