using System.Net;

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

/// <summary>A name within a context: messages take no wire.</summary>
internal sealed class InprocEndpoint(EndpointText text) : TransportEndpoint(text)
{
    public override string Path { get; } = text.Remainder;

    public static TransportEndpoint Parse(in EndpointText text, EndpointUse use, out EndpointError error)
    {
        error = EndpointError.None;
        return new InprocEndpoint(text);
    }
}

/// <summary>A row of the table of transports.</summary>
/// <param name="Scheme">What stands before "://".</param>
/// <param name="Notation">How its endpoints are written, for advice.</param>
/// <param name="Parse">Reads what stands behind "://".</param>
/// <param name="Format">Writes an address as an endpoint.</param>
internal sealed record Transport(string Scheme, string Notation, EndpointParser Parse, AddressFormat Format);

/// <summary>Null: it is none, for the reason in <paramref name="error"/>.</summary>
internal delegate TransportEndpoint? EndpointParser(in EndpointText text, EndpointUse use, out EndpointError error);

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
