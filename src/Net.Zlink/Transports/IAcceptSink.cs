using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>
/// Receives a listener's connections on pool threads, one call at a time, inside the listener's gate. Members must only post: never wait,
/// never run application code. No caller of <c>Close</c> may hold a lock that they take. An exception costs only its connection and is
/// counted as a failed accept.
/// </summary>
internal interface IAcceptSink
{
    void OnAccepted(Wire wire);

    void OnAcceptFailed(SocketError error, TimeSpan backOff);

    /// <summary>Called at most once, outside of the gate, and never after <c>Close</c>.</summary>
    void OnListenerClosed(SocketError error);
}
