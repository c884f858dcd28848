using System.Net.Sockets;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports;

internal interface ITransportListener : IDisposable
{
    WireUpgrade? Upgrade { get; }

    string Endpoint { get; }

    /// <summary>The listening socket, for events. Still readable after <see cref="Close"/>.</summary>
    long Handle { get; }

    void Start(IAcceptSink sink, TimeProvider time);

    /// <summary>
    /// No <see cref="IAcceptSink.OnAccepted"/> begins after this has returned; a running one is awaited, so hold no lock that the sink
    /// takes. Accepted connections stay; those in the kernel's queue are reset.
    /// </summary>
    void Close();

    /// <summary>A connection that it accepted was refused, or has ended and does not count any more. It must only post.</summary>
    void OnConnectionEnded(DisconnectReason reason)
    {
    }
}

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

internal readonly record struct BindResult(ITransportListener? Listener, EndpointError Error);
