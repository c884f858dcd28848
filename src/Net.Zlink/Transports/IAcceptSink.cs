using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>
/// <para>Receives a listener's connections on pool threads, one call at a time.</para>
/// <para>
/// <see cref="OnAccepted"/> and <see cref="OnAcceptFailed"/> run inside the listener's gate, which <c>Close</c> takes too, so no call
/// begins after <c>Close</c>. They must only post: never wait, never run application code. No caller of <c>Close</c> may hold a lock that
/// they take; a call from within them is allowed.
/// </para>
/// <para>An exception does not end the loop: the socket is disposed, and the failure is counted and reported as a failed accept.</para>
/// </summary>
internal interface IAcceptSink
{
    /// <summary>Takes ownership of a connection, which is non-blocking and has its options set.</summary>
    void OnAccepted(Socket socket);

    /// <summary>An accept failed, and the loop continues after the back-off, which may be zero.</summary>
    void OnAcceptFailed(SocketError error, TimeSpan backOff);

    /// <summary>
    /// The listener failed and has closed itself. Called at most once, outside of the gate, and never after <c>Close</c>.
    /// </summary>
    void OnListenerClosed(SocketError error);
}
