using System.Net.Sockets;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports.Tls;

internal sealed class TlsWire(Socket socket, Transport transport, TlsStream tls, BufferPool pool)
    : IoStreamWire(socket, transport, pool, tls.Reads, tls.Writes)
{
    public override void Attach(IWireEvents events)
    {
        base.Attach(events);
        tls.SetPrefetched(this, events);
    }

    /// <summary>
    /// The certificate may be the reason even after a complete handshake. In TLS 1.3 the client finishes first, before the server has
    /// validated its certificate. TLS 1.2 may behave the same.
    /// </summary>
    public override string WhyRefused(string words) =>
        $"{words}; over tls the peer may have rejected this side's certificate, or its absence";

    public override WireStatus EndSending(WireEnd end) => End(tls.ShutdownAsync);

    protected override ValueTask<int> ReadAsync(Memory<byte> into)
    {
        tls.BeginTurn();
        return tls.BeginReadAsync(into);
    }

    protected override void OnFetched(int read) => tls.End(read);

    protected override ValueTask<int> ReadRawAsync(Memory<byte> into) => ReadAsync(into);

    protected override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame) => tls.WriteAsync(bytes);

    protected override WireStatus? Classify(Exception exception) => IoStreamErrors.Classify(exception, Explain);

    protected override void Free() => tls.Dispose();
}
