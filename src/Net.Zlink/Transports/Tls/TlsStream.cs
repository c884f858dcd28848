using System.Net.Security;
using System.Runtime.CompilerServices;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>A TLS session over a socket, which may be ended while it is read or written.</summary>
/// <remarks>The base library locks its reads and writes against each other, but its farewell against neither.</remarks>
/// <param name="stream">The socket's stream; owned. It tells <see cref="Reads"/> when the session waits for input.</param>
internal sealed class TlsStream(ReadinessStream stream) : SslStream(stream)
{
    // The session tickets of TLS 1.3 come behind the handshake, in two records as a rule and one or two reads, and the base library would
    // wait behind them in a buffer of 32 KB until data comes, which may be never. It gives the buffer back where a read ends by an
    // exception instead: 20 us, so not more often than this for a peer that sends other things than data.
    private const int MaxEarlyEnds = 4;

    /// <summary>The certificate that the peer showed, once the handshake is over; null: none.</summary>
    public X509Certificate2? PeerCertificate => RemoteCertificate as X509Certificate2;

    /// <summary>Who reads the session tells this when each read begins and ends.</summary>
    public TlsShutdownGate Reads { get; } = stream.Reads;

    /// <summary>Who writes to the session tells this when each write begins and ends.</summary>
    public TlsShutdownGate Writes { get; } = new();

    /// <summary>Says what is looked at when a wait for input ends: see <see cref="InputWait.LeadsTo"/>.</summary>
    public void LeadsTo(Wire wire, IWireEvents events) => stream.LeadsTo(this, wire, events);

    /// <inheritdoc cref="ReadinessStream.BeginTurn"/>
    public void BeginTurn() => stream.BeginTurn();

    /// <inheritdoc cref="ReadinessStream.EndHandshake"/>
    public int EndHandshake() => stream.EndHandshake();

    /// <summary>The handshake is over, and the peer may say what is no data.</summary>
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

    /// <summary>As <see cref="ReadAsync"/>, for one who says himself what came (<see cref="End"/>), and knows what
    /// <see cref="NoDataYetException"/> is: one state machine less for each read that waits.</summary>
    public ValueTask<int> BeginReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        stream.BeginSessionRead();
        return base.ReadAsync(buffer, cancellationToken);
    }

    /// <summary>A read has brought so much data.</summary>
    /// <returns>As much.</returns>
    public int End(int read)
    {
        stream.EndSessionRead(read);
        return read;
    }

    /// <summary>Says close_notify as soon as no read is at work. Any thread, once nothing is written any more.</summary>
    public override Task ShutdownAsync() => Reads.RunAsync(base.ShutdownAsync);

    /// <summary>Says close_notify as soon as no write is under way. For the one that reads, which reads on only behind it.</summary>
    public Task ShutdownByReaderAsync() => Writes.RunAsync(base.ShutdownAsync);

    // A message that arrives in pieces, for one.
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
