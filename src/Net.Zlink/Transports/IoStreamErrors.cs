using System.Net.Sockets;
using System.Security.Authentication;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports;

/// <summary>What the exceptions of the base library's streams mean to a connection.</summary>
internal static class IoStreamErrors
{
    /// <summary>Failed, explained, for what a network stream or a TLS stream throws when its connection is broken or closed; null for
    /// anything else, which is a defect.</summary>
    public static WireStatus? Classify(Exception exception, Action<SocketError, string> explain)
    {
        if (!IsOfStream(exception))
        {
            return null;
        }

        explain(ErrorOf(exception), WordsOf(exception));
        return WireStatus.Failed;
    }

    /// <summary>A stream over a connected socket, which it owns; null, with the socket disposed, if the connection is gone
    /// already.</summary>
    public static ReadinessStream? TryOpen(Socket socket, out UpgradeResult failure)
    {
        try
        {
            failure = default;
            socket.Blocking = true; // What the stream asks for; its asynchronous operations never block.
            return new ReadinessStream(socket);
        }
        catch (Exception e) when (IsOfStream(e))
        {
            socket.Dispose();
            failure = UpgradeResult.Lost("the handshake", e);
            return null;
        }
    }

    /// <summary>Whether a stream throws this for what the network or the peer did, or because it was closed meanwhile (TLS says
    /// InvalidOperation then).</summary>
    public static bool IsOfStream(Exception exception) =>
        exception is IOException or SocketException or ObjectDisposedException or AuthenticationException or OperationCanceledException
            or InvalidOperationException;

    /// <summary>A socket's error as a stream throws it.</summary>
    public static IOException Of(SocketError error)
    {
        var cause = new SocketException((int)error);
        return new IOException(cause.Message, cause);
    }

    /// <summary>The system's error beneath; ConnectionReset where the stream has none.</summary>
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

    /// <summary>The innermost message: that is where the libraries beneath say what they mean.</summary>
    public static string WordsOf(Exception exception)
    {
        while (exception.InnerException is { } inner)
        {
            exception = inner;
        }

        return ExceptionText.MessageOf(exception);
    }
}
