using System.Net;

namespace Net.Zlink.Transports;

/// <summary>An endpoint to connect to, parsed: names are looked up at each attempt. Immutable.</summary>
/// <param name="text">The endpoint as it was given; it is also what names the connection in a disconnect.</param>
/// <param name="scheme">The transport's scheme.</param>
internal abstract class ConnectTarget(string text, string scheme)
{
    /// <summary>The endpoint as it was given.</summary>
    public string Text => text;

    /// <summary>The transport's scheme.</summary>
    public string Scheme => scheme;

    /// <summary>The address and port, where the text says them in numbers, and no source; otherwise null.</summary>
    public virtual IPEndPoint? Literal => null;

    /// <summary>The handshake that a connected socket goes through before it carries anything; null: none.</summary>
    public virtual WireUpgrade? Upgrade(TransportSettings settings) => null;

    /// <summary>
    /// One attempt. Never throws for what the other side does, nor for cancellation: the task completes with a value, at once or on a pool
    /// thread. Nothing stays open after a failure.
    /// </summary>
    /// <param name="settings">The endpoint's options.</param>
    /// <param name="time">The context's clock.</param>
    /// <param name="connecting">Told once, when the system is asked to connect: not while a name is looked up, nor if it is not
    /// found.</param>
    /// <param name="cancellation">Ends the attempt.</param>
    public abstract Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation);
}
