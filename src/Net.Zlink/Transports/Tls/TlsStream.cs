using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>A TLS session over a socket, which may be ended while it is read or written.</summary>
/// <remarks>The base library locks its reads and writes against each other, but its farewell against neither.</remarks>
/// <param name="stream">The socket's stream; owned. It tells <see cref="Reads"/> when the session waits for input.</param>
internal sealed class TlsStream(ReadinessStream stream) : SslStream(stream)
{
    /// <summary>The certificate that the peer showed, once the handshake is over; null: none.</summary>
    public X509Certificate2? PeerCertificate => RemoteCertificate as X509Certificate2;

    /// <summary>Who reads the session tells this when each read begins and ends.</summary>
    public StreamUse Reads { get; } = stream.Reads;

    /// <summary>Who writes to the session tells this when each write begins and ends.</summary>
    public StreamUse Writes { get; } = new();

    /// <summary>Says what is looked at when a wait for input ends: see <see cref="InputWait.LeadsTo"/>.</summary>
    public void LeadsTo(Wire wire, IWireEvents events) => stream.LeadsTo(this, wire, events);

    /// <inheritdoc cref="ReadinessStream.BeginTurn"/>
    public void BeginTurn() => stream.BeginTurn();

    /// <inheritdoc cref="ReadinessStream.EndHandshake"/>
    public int EndHandshake() => stream.EndHandshake();

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        stream.BeginSessionRead();
        return base.ReadAsync(buffer, cancellationToken);
    }

    /// <summary>Says close_notify as soon as no read is at work. Any thread, once nothing is written any more.</summary>
    public override Task ShutdownAsync() => Reads.RunAsync(base.ShutdownAsync);

    /// <summary>Says close_notify as soon as no write is under way. For the one that reads, which reads on only behind it.</summary>
    public Task ShutdownByReaderAsync() => Writes.RunAsync(base.ShutdownAsync);
}
