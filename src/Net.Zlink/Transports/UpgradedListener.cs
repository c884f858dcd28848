namespace Net.Zlink.Transports;

/// <summary>A listener whose connections go through a handshake of the transport before they carry anything: tls, ws, wss over a tcp
/// listener.</summary>
/// <param name="inner">Accepts the sockets; owned.</param>
/// <param name="scheme">The transport's scheme.</param>
/// <param name="endpoint">The endpoint with the real port.</param>
/// <param name="upgrade">What each connection goes through.</param>
internal sealed class UpgradedListener(ITransportListener inner, string scheme, string endpoint, WireUpgrade upgrade) : ITransportListener
{
    /// <summary>What accepts the sockets.</summary>
    public ITransportListener Inner => inner;

    /// <inheritdoc/>
    public string Scheme => scheme;

    /// <inheritdoc/>
    public string Endpoint => endpoint;

    /// <inheritdoc/>
    public long Handle => inner.Handle;

    /// <inheritdoc/>
    public WireUpgrade? Upgrade => upgrade;

    /// <inheritdoc/>
    public void Start(IAcceptSink sink, TimeProvider time) => inner.Start(sink, time);

    /// <inheritdoc/>
    public void Close() => inner.Close();

    /// <inheritdoc/>
    public void Dispose() => inner.Dispose();
}
