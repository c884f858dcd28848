using System.Net.Security;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports.Tls;

internal sealed class TlsStream(WireStream stream) : SslStream(stream)
{
    // After the session tickets the base library would wait for data with a buffer of 32 KB, perhaps forever. It returns the buffer when a
    // read ends with an exception, which takes 20 us, so only this often for a peer that sends no data.
    private const int MaxEarlyEnds = 4;

    public X509Certificate2? PeerCertificate => RemoteCertificate as X509Certificate2;

    public WireStream Inner => stream;

    public void BeginSession()
    {
        bool isTls13 = SslProtocol == SslProtocols.Tls13;
        stream.BeginSession(isTls13, !IsServer && isTls13 ? MaxEarlyEnds : 0);
    }

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

    public int End(int read)
    {
        stream.EndSessionRead(read);
        return read;
    }

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

internal sealed class TlsWire(Socket socket, Transport transport, TlsStream tls, BufferPool pool)
    : IoStreamWire(socket, transport, pool, tls.Inner)
{
    /// <summary>
    /// The certificate may be the reason even after a complete handshake. In TLS 1.3 the client finishes first, before the server has
    /// validated its certificate. TLS 1.2 may behave the same.
    /// </summary>
    public override string WhyRefused(string words) =>
        $"{words}; over tls the peer may have rejected this side's certificate, or its absence";

    protected override ValueTask<int> ReadAsync(Memory<byte> into) => tls.BeginReadAsync(into);

    protected override void OnFetched(int read) => tls.End(read);

    protected override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame) => tls.WriteAsync(bytes);

    protected override Task SayFarewellAsync(WireEnd end) => RunAtRestAsync(tls.ShutdownAsync);

    protected override void Free() => tls.Dispose();
}
