namespace Net.Zlink.Transports;

/// <summary>A bound address that accepts connections, on any transport. Thread-safe.</summary>
internal interface ITransportListener : IDisposable
{
    string Scheme { get; }

    /// <summary>The handshake of each accepted connection, or null.</summary>
    WireUpgrade? Upgrade { get; }

    /// <summary>The resolved endpoint, with the real port or path.</summary>
    string Endpoint { get; }

    /// <summary>The listening socket's handle for events. Still readable after <see cref="Close"/>.</summary>
    long Handle { get; }

    /// <summary>Begins to accept on pool threads. Once only.</summary>
    void Start(IAcceptSink sink, TimeProvider time);

    /// <summary>
    /// Stops accepting and frees the address. Idempotent. No <see cref="IAcceptSink.OnAccepted"/> begins after this has returned; a running
    /// one is awaited, so hold no lock that the sink takes. Accepted connections stay; those in the kernel's queue are reset.
    /// </summary>
    void Close();
}
