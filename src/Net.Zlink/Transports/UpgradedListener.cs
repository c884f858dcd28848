namespace Net.Zlink.Transports;

/// <summary>A listener with a transport handshake: tls, ws, wss over a tcp listener.</summary>
/// <param name="inner">Accepts the sockets; owned.</param>
/// <param name="scheme">The transport's scheme.</param>
/// <param name="endpoint">The endpoint with the real port.</param>
/// <param name="upgrade">The handshake of each connection.</param>
internal sealed class UpgradedListener(ITransportListener inner, string scheme, string endpoint, WireUpgrade upgrade) : ITransportListener
{
    public ITransportListener Inner => inner;

    public string Scheme => scheme;

    public string Endpoint => endpoint;

    public long Handle => inner.Handle;

    public WireUpgrade? Upgrade => upgrade;

    public void Start(IAcceptSink sink, TimeProvider time) => inner.Start(sink, time);

    public void Close() => inner.Close();

    public void Dispose() => inner.Dispose();
}
