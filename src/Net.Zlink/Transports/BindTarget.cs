namespace Net.Zlink.Transports;

/// <summary>An endpoint to bind, parsed: nothing is resolved or opened before <see cref="Bind"/>. Made for one call: what it <c>Names</c>
/// is looked up once. Not thread-safe.</summary>
/// <param name="text">The endpoint as it was given.</param>
internal abstract class BindTarget(string text)
{
    /// <summary>The endpoint as it was given.</summary>
    public string Text => text;

    /// <summary>Binds and listens. Names are looked up, and files touched, on the caller's thread.</summary>
    public abstract BindResult Bind(TransportSettings settings);

    /// <summary>
    /// Whether this text, given to an unbind, means <paramref name="listener"/>: its own endpoint does on every transport. (The text that
    /// it was bound with does too; who bound it knows that.) May block while a name is looked up: call it without a lock.
    /// </summary>
    public virtual bool Names(ITransportListener listener) => string.Equals(Text, listener.Endpoint, StringComparison.Ordinal);

    /// <summary>Whether this text, given to a disconnect, means what <paramref name="target"/> dials. (Its own text does; who dials it
    /// knows that.) May block as <see cref="Names(ITransportListener)"/> does.</summary>
    public virtual bool Names(ConnectTarget target) => false;
}
