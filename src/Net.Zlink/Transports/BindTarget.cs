namespace Net.Zlink.Transports;

/// <summary>Nothing is resolved or opened before <see cref="Bind"/>. Made for one call, because <c>Names</c> looks up once.</summary>
internal abstract class BindTarget(string text)
{
    public string Text => text;

    public abstract BindResult Bind(TransportSettings settings);

    /// <summary>May block for a name lookup: call it without a lock.</summary>
    public virtual bool Names(ITransportListener listener) => string.Equals(Text, listener.Endpoint, StringComparison.Ordinal);

    /// <summary>May block as <see cref="Names(ITransportListener)"/>.</summary>
    public virtual bool Names(ConnectTarget target) => false;
}
