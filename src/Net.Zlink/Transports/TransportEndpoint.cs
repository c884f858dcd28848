namespace Net.Zlink.Transports;

/// <summary>An endpoint in its parts, as its transport reads it.</summary>
internal abstract class TransportEndpoint(EndpointText text)
{
    public string Text => text.Text;

    public Transport Transport => text.Transport;

    public string Scheme => text.Transport.Scheme;

    public RedactedEndpoint Redacted { get; } = text.Text;

    /// <summary>A name, an address without brackets, or "*". Empty where the transport has no hosts.</summary>
    public virtual string Host => "";

    /// <summary>0: none, or any free one.</summary>
    public virtual int Port => 0;

    public virtual string Path => "";

    public virtual string Query => "";
}

/// <summary>
/// An endpoint of connections. Nothing is resolved or opened before <see cref="Listen"/> and <see cref="DialAsync"/>. Made for one call,
/// because <c>Names</c> looks up once.
/// </summary>
internal abstract class WireEndpoint(EndpointText text) : TransportEndpoint(text)
{
    public abstract BindResult Listen(TransportSettings settings);

    /// <summary>
    /// Network errors and cancellation are values, not exceptions. Nothing stays open after a failure. <paramref name="connecting"/>:
    /// called once when the system is asked to connect, after the name lookup.
    /// </summary>
    public abstract Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation);

    /// <summary>The handshake after a dial.</summary>
    public virtual WireUpgrade? DialUpgrade(TransportSettings settings) => null;

    /// <summary>May block for a name lookup: call it without a lock.</summary>
    public virtual bool Names(ITransportListener listener) => string.Equals(Text, listener.Endpoint, StringComparison.Ordinal);

    /// <summary>May block as <see cref="Names(ITransportListener)"/>.</summary>
    public virtual bool Names(WireEndpoint dialled) => false;
}
