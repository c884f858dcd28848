using System.Net.Sockets;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports.Tls;

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

    protected override WireStatus? Classify(Exception exception) => IoStreamErrors.Classify(exception, Explain);

    protected override void Free() => tls.Dispose();
}
