namespace Net.Zlink.Transports;

/// <summary>A bound address that takes connections, whatever the transport. All members may be called from any thread.</summary>
internal interface ITransportListener : IDisposable
{
    /// <summary>The transport's scheme.</summary>
    string Scheme { get; }

    /// <summary>The handshake that each accepted connection goes through before it carries anything; null: none.</summary>
    WireUpgrade? Upgrade { get; }

    /// <summary>The endpoint with what the system filled in (a real port, a made-up path): the "last endpoint" of a bind.</summary>
    string Endpoint { get; }

    /// <summary>The system's number of the listening socket, for events; it stays readable after <see cref="Close"/>.</summary>
    long Handle { get; }

    /// <summary>Begins to accept, on pool threads. Once only.</summary>
    void Start(IAcceptSink sink, TimeProvider time);

    /// <summary>
    /// Stops accepting and frees the address. Idempotent. No call of <see cref="IAcceptSink.OnAccepted"/> begins after this has returned;
    /// one that runs on another thread is waited for, so do not hold a lock that the sink takes. Connections handed on stay open; those
    /// still in the kernel's queue are reset.
    /// </summary>
    void Close();
}
