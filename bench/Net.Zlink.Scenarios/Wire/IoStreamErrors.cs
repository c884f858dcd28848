using System.Net.Sockets;
using System.Net.WebSockets;
using System.Security.Authentication;

namespace Net.Zlink.Scenarios.Wire;

/// <summary>Which exceptions of a stream are the end of its connection, and by which error.</summary>
internal static class IoStreamErrors
{
    public static bool IsOfConnection(Exception e) =>
        e is IOException or SocketException or ObjectDisposedException or WebSocketException or AuthenticationException
        or InvalidOperationException or OperationCanceledException;

    public static SocketError ErrorOf(Exception? e)
    {
        for (; e is not null; e = e.InnerException)
        {
            if (e is SocketException socket)
            {
                return socket.SocketErrorCode;
            }
        }

        return SocketError.ConnectionReset;
    }
}
