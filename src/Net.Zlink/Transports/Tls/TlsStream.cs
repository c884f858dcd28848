using System.Net.Security;
using System.Runtime.CompilerServices;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>A TLS session over a socket, which may be ended while it is read or written.</summary>
/// <remarks>The base library locks reads and writes against each other, but close_notify against neither.</remarks>
/// <param name="stream">The socket's stream; owned. It notifies <see cref="Reads"/> when the session waits for input.</param>
internal sealed class TlsStream(ReadinessStream stream) : SslStream(stream)
{
    // TLS 1.3 session tickets follow the handshake, usually in two records. After them the base library would wait for data with a buffer
    // of 32 KB, perhaps forever. It returns the buffer when a read ends with an exception, which takes 20 us, so only this often for a peer
    // that sends no data.
    private const int MaxEarlyEnds = 4;

    /// <summary>The peer's certificate after the handshake, or null.</summary>
    public X509Certificate2? PeerCertificate => RemoteCertificate as X509Certificate2;

    /// <summary>The session's reader marks the beginning and end of each read here.</summary>
    public TlsShutdownGate Reads { get; } = stream.Reads;

    /// <summary>The session's writer marks the beginning and end of each write here.</summary>
    public TlsShutdownGate Writes { get; } = new();

    /// <summary>Sets what is prefetched when a wait for input ends: see <see cref="InputWait.LeadsTo"/>.</summary>
    public void LeadsTo(Wire wire, IWireEvents events) => stream.LeadsTo(this, wire, events);

    /// <inheritdoc cref="ReadinessStream.BeginTurn"/>
    public void BeginTurn() => stream.BeginTurn();

    /// <inheritdoc cref="ReadinessStream.EndHandshake"/>
    public int EndHandshake() => stream.EndHandshake();

    /// <summary>The handshake is over, and the peer may send bytes without data.</summary>
    public void BeginSession()
    {
        bool isTls13 = SslProtocol == SslProtocols.Tls13;
        stream.BeginSession(isTls13, !IsServer && isTls13 ? MaxEarlyEnds : 0);
    }

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        bool mayEndEarly = stream.MayEndEarly;
        ValueTask<int> read = BeginReadAsync(buffer, cancellationToken);
        return read.IsCompletedSuccessfully ? new ValueTask<int>(End(read.GetAwaiter().GetResult()))
            : !mayEndEarly && (read.IsCompleted || buffer.IsEmpty) ? read
            : EndAsync(read, buffer, cancellationToken);
    }

    /// <summary>
    /// As <see cref="ReadAsync"/>, for a reader that calls <see cref="End"/> and knows <see cref="NoDataYetException"/>: one state machine
    /// less for each waiting read.
    /// </summary>
    public ValueTask<int> BeginReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        stream.BeginSessionRead();
        return base.ReadAsync(buffer, cancellationToken);
    }

    /// <summary>A read has returned this much data.</summary>
    /// <returns>The same number.</returns>
    public int End(int read)
    {
        stream.EndSessionRead(read);
        return read;
    }

    /// <summary>Sends close_notify as soon as no read is in progress. Any thread, when nothing more is written.</summary>
    public override Task ShutdownAsync() => Reads.RunAsync(base.ShutdownAsync);

    /// <summary>Sends close_notify as soon as no write is in progress. For the reader, which reads on only afterwards.</summary>
    public Task ShutdownByReaderAsync() => Writes.RunAsync(base.ShutdownAsync);

    // For example a message in pieces.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> EndAsync(ValueTask<int> read, Memory<byte> buffer, CancellationToken cancellation)
    {
        while (true)
        {
            try
            {
                return End(await read.ConfigureAwait(false));
            }
            catch (NoDataYetException)
            {
                read = BeginReadAsync(buffer, cancellation);
            }
        }
    }
}
