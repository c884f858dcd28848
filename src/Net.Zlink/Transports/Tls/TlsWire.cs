using System.Net.Sockets;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports.Tls;

/// <summary>Bytes over an established TLS session. Our end is announced to the peer with close_notify.</summary>
internal sealed class TlsWire(Socket socket, TlsStream tls, BufferPool pool)
    : IoStreamWire(socket, EndpointText.Tls, pool, tls.Reads, tls.Writes)
{
    /// <inheritdoc/>
    public override void Attach(IWireEvents events)
    {
        base.Attach(events);
        tls.LeadsTo(this, events);
    }

    /// <inheritdoc/>
    /// <remarks>A client is through with the handshake of TLS 1.3, and may be with that of 1.2, before the server has judged its
    /// certificate; and .NET's own client judges the server's behind it.</remarks>
    public override string WhyRefused(string words) =>
        $"{words}; over tls the peer may not have accepted this side's certificate, or the lack of one";

    /// <inheritdoc/>
    public override WireStatus EndSending(WireEnd end) => End(tls.ShutdownAsync);

    /// <inheritdoc/>
    protected override ValueTask<int> ReadAsync(Memory<byte> into)
    {
        tls.BeginTurn();
        return tls.BeginReadAsync(into);
    }

    /// <inheritdoc/>
    protected override void OnFetched(int read) => tls.End(read);

    /// <inheritdoc/>
    protected override ValueTask<int> ReadRawAsync(Memory<byte> into) => ReadAsync(into);

    /// <inheritdoc/>
    protected override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame) => tls.WriteAsync(bytes);

    /// <inheritdoc/>
    protected override WireStatus? Classify(Exception exception) => IoStreamErrors.Classify(exception, Explain);

    /// <inheritdoc/>
    protected override void Free() => tls.Dispose();
}
