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
