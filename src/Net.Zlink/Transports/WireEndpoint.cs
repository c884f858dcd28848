using System.Net.Sockets;

namespace Net.Zlink.Transports;

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

internal readonly record struct BindResult(ITransportListener? Listener, EndpointError Error);

/// <summary><paramref name="Sentence"/>: what happened and what to do, in lower case without a full stop.</summary>
internal readonly record struct DialResult(Wire? Wire, SocketError Error, string Sentence)
{
    public static DialResult Cancelled(string text) =>
        new(null, SocketError.OperationAborted, $"connecting to {EndpointError.Quote(text)} was cancelled");
}
