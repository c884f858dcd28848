using System.Net.Security;

namespace Net.Zlink.Transports.Tls;

/// <summary>A TLS session over a socket, which may be ended while it is read.</summary>
/// <remarks>The base library locks its reads and writes against each other, but not its farewell against its reads.</remarks>
/// <param name="stream">The socket's stream; owned. It tells <see cref="Reads"/> when the session waits for input.</param>
internal sealed class TlsStream(ReadinessStream stream) : SslStream(stream)
{
    /// <summary>Who reads the session tells this when each read begins and ends.</summary>
    public ReadActivity Reads { get; } = stream.Reads;

    /// <summary>Says close_notify as soon as no read is at work. Any thread, nothing being written.</summary>
    public override Task ShutdownAsync() => Reads.RunAsync(base.ShutdownAsync);

    /// <summary>As <see cref="ShutdownAsync"/>, for the one that reads, between two reads of its own.</summary>
    public Task ShutdownByReaderAsync() => base.ShutdownAsync();
}
