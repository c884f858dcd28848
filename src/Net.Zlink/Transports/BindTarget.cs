namespace Net.Zlink.Transports;

/// <summary>
/// A parsed endpoint to bind. Nothing is resolved or opened before <see cref="Bind"/>. Made for one call, because <c>Names</c> looks up
/// once. Not thread-safe.
/// </summary>
/// <param name="text">The endpoint as given.</param>
internal abstract class BindTarget(string text)
{
    public string Text => text;

    /// <summary>Binds and listens. Looks up names and touches files on the caller's thread.</summary>
    public abstract BindResult Bind(TransportSettings settings);

    /// <summary>
    /// Whether this text, given to an unbind, means the listener, as its own endpoint does. The caller compares the text of the bind
    /// itself. May block for a name lookup: call it without a lock.
    /// </summary>
    public virtual bool Names(ITransportListener listener) => string.Equals(Text, listener.Endpoint, StringComparison.Ordinal);

    /// <summary>
    /// Whether this text, given to a disconnect, means the target. The caller compares the text of the connect itself. May block as
    /// <see cref="Names(ITransportListener)"/>.
    /// </summary>
    public virtual bool Names(ConnectTarget target) => false;
}
