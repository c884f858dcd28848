namespace Net.Zlink.Transports;

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
