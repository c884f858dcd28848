using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>
/// Takes what a listener's accept loop produces. Calls of one listener never overlap; they come on thread-pool threads.
/// <para>
/// <see cref="OnAccepted"/> and <see cref="OnAcceptFailed"/> are called inside the listener's gate, which <c>Close</c> takes too: that is
/// how no call begins after <c>Close</c> has returned. So they must only hand over (post to a shard, raise an event), never wait and never
/// run user code, and nobody may call <c>Close</c> while holding a lock that they take. Calling <c>Close</c> from within them is fine.
/// </para>
/// <para>
/// A call that throws does not end the loop: a socket it was given is disposed, and the failure is counted and reported as a failed accept.
/// </para>
/// </summary>
internal interface IAcceptSink
{
    /// <summary>Takes over a connection. It is non-blocking and has its options set; the sink must dispose it.</summary>
    void OnAccepted(Socket socket);

    /// <summary>An accept failed and the loop goes on after <paramref name="backOff"/>; zero means that it has gone on at once.</summary>
    void OnAcceptFailed(SocketError error, TimeSpan backOff);

    /// <summary>
    /// The listener could not go on and has closed itself. Called at most once, outside the gate, and never when <c>Close</c> was first.
    /// </summary>
    void OnListenerClosed(SocketError error);
}
