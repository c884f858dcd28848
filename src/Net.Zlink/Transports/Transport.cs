using System.Net;

namespace Net.Zlink.Transports;

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
