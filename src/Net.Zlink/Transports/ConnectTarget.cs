using System.Net;

namespace Net.Zlink.Transports;

/// <summary>A parsed endpoint to connect to. Names are looked up at each attempt. Immutable.</summary>
/// <param name="text">The endpoint as given, which also names it in a disconnect.</param>
/// <param name="scheme">The transport's scheme.</param>
internal abstract class ConnectTarget(string text, string scheme)
{
    public string Text => text;

    public string Scheme => scheme;

    /// <summary>The address and port if they are numeric and there is no source. Otherwise null.</summary>
    public virtual IPEndPoint? Literal => null;

    /// <summary>The handshake of a new connection, or null.</summary>
    public virtual WireUpgrade? Upgrade(TransportSettings settings) => null;

    /// <summary>
    /// Makes one attempt. Network errors and cancellation are values, not exceptions. Completes at once or on a pool thread. Nothing stays
    /// open after a failure.
    /// </summary>
    /// <param name="settings">The endpoint's options.</param>
    /// <param name="time">The context's clock.</param>
    /// <param name="connecting">Called once when the system is asked to connect, after the name lookup.</param>
    /// <param name="cancellation">Cancels the attempt.</param>
    public abstract Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation);
}
