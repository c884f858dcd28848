using System.Net;

namespace Net.Zlink.Transports;

internal abstract class ConnectTarget(string text, string scheme)
{
    public string Text => text;

    /// <inheritdoc cref="EndpointText.Redact"/>
    public string RedactedText { get; } = EndpointText.Redact(text);

    public string Scheme => scheme;

    public virtual IPEndPoint? Literal => null;

    public virtual WireUpgrade? Upgrade(TransportSettings settings) => null;

    /// <summary>
    /// Network errors and cancellation are values, not exceptions. Nothing stays open after a failure. <paramref name="connecting"/>:
    /// called once when the system is asked to connect, after the name lookup.
    /// </summary>
    public abstract Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation);
}
