using System.Net.Sockets;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports;

/// <summary>
/// To dispose it is to close it. No <see cref="IAcceptSink.OnAccepted"/> begins after that has returned; a running one is awaited, so hold
/// no lock that the sink takes. Accepted connections stay; those in the kernel's queue are reset.
/// </summary>
internal interface ITransportListener : IDisposable
{
    WireUpgrade? Upgrade { get; }

    string Endpoint { get; }

    /// <summary>The listening socket, for events. Still readable after the close.</summary>
    long Handle { get; }

    void Start(IAcceptSink sink, TimeProvider time);

    /// <summary>A connection that it accepted was refused, or has ended and does not count any more. It must only post.</summary>
    void OnConnectionEnded(DisconnectReason reason)
    {
    }
}

/// <summary>
/// Receives a listener's connections on pool threads, one call at a time, inside the listener's gate. Members must only post: never wait,
/// never run application code. An exception costs only its connection and is counted as a failed accept.
/// </summary>
internal interface IAcceptSink
{
    void OnAccepted(Wire wire);

    void OnAcceptFailed(SocketError error, TimeSpan backOff);

    /// <summary>Called at most once, outside of the gate, and never after the close.</summary>
    void OnListenerClosed(SocketError error);
}
