using System.Net.Sockets;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports.Tls;

internal sealed class TlsWire(Socket socket, TlsStream tls, BufferPool pool)
    : IoStreamWire(socket, EndpointText.Tls, pool, tls.Reads, tls.Writes)
{
    public override void Attach(IWireEvents events)
    {
        base.Attach(events);
        tls.SetPrefetched(this, events);
    }

    /// <remarks>
    /// A client has completed the handshake of TLS 1.3 (with 1.2 perhaps, too) before the server has validated its certificate. .NET's own
    /// client validates the server's afterwards.
    /// </remarks>
    public override string WhyRefused(string words) =>
        $"{words}; over tls the peer may not have accepted this side's certificate, or the lack of one";

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
