using System.Net;
using System.Net.Sockets;

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

/// <summary>A name within a context: messages take no wire.</summary>
internal sealed class InprocEndpoint(EndpointText text) : TransportEndpoint(text)
{
    public override string Path { get; } = text.Remainder;

    public static bool TryParse(in EndpointText text, EndpointUse use, out TransportEndpoint endpoint, out EndpointError error)
    {
        (endpoint, error) = (new InprocEndpoint(text), EndpointError.None);
        return true;
    }
}

/// <summary>A row of the table of transports.</summary>
/// <param name="Scheme">What stands before "://".</param>
/// <param name="Notation">How its endpoints are written, for advice.</param>
/// <param name="Parse">Reads what stands behind "://".</param>
/// <param name="Format">Writes an address as an endpoint.</param>
internal sealed record Transport(string Scheme, string Notation, EndpointParser Parse, AddressFormat Format);

internal delegate bool EndpointParser(in EndpointText text, EndpointUse use, out TransportEndpoint endpoint, out EndpointError error);

/// <summary>Empty for what is no address of the transport.</summary>
/// <param name="address">An end of a connection.</param>
/// <param name="scheme">The transport's.</param>
/// <param name="endpoint">The bound or dialled endpoint: as in the native core, ws and wss addresses get its path.</param>
internal delegate string AddressFormat(EndPoint? address, string scheme, RedactedEndpoint endpoint);

internal enum EndpointUse
{
    Bind,

    Connect,

    /// <summary>One of the two.</summary>
    Any,
}

/// <summary><paramref name="Sentence"/>: what happened and what to do, in lower case without a full stop.</summary>
internal readonly record struct DialResult(Wire? Wire, SocketError Error, string Sentence);
