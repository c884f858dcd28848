using System.Net;
using System.Net.Sockets;
using Net.Zlink.Transports.Ipc;
using Net.Zlink.Transports.Tcp;

namespace Net.Zlink.Transports;

/// <summary>Where an endpoint's text finds its transport. Pure: nothing is resolved and nothing is opened.</summary>
internal static class Endpoints
{
    /// <summary>Parses an endpoint to bind.</summary>
    public static bool TryParseBind(string text, out BindTarget target, out EndpointError error)
    {
        target = null!;
        if (!EndpointText.TryParse(text, out EndpointText parts, out error))
        {
            return false;
        }

        switch (parts.Scheme)
        {
            case EndpointText.Tcp when TcpBindAddress.TryParse(parts.Rest, out TcpBindAddress tcp, out error):
                target = new TcpBindTarget(text, tcp);
                return true;
            case EndpointText.Ipc when IpcAddress.TryParseBind(parts.Rest, out IpcAddress ipc, out error):
                target = new IpcBindTarget(text, ipc);
                return true;
            default:
                error = OrNoTransport(error, parts);
                return false;
        }
    }

    /// <summary>Parses an endpoint to connect to.</summary>
    public static bool TryParseConnect(string text, out ConnectTarget target, out EndpointError error)
    {
        target = null!;
        if (!EndpointText.TryParse(text, out EndpointText parts, out error))
        {
            return false;
        }

        switch (parts.Scheme)
        {
            case EndpointText.Tcp when TcpConnectAddress.TryParse(parts.Rest, out TcpConnectAddress tcp, out error):
                target = new TcpConnectTarget(text, tcp);
                return true;
            case EndpointText.Ipc when IpcAddress.TryParseConnect(parts.Rest, out IpcAddress ipc, out error):
                target = new IpcConnectTarget(text, ipc);
                return true;
            default:
                error = OrNoTransport(error, parts);
                return false;
        }
    }

    /// <summary>An address of a socket as an endpoint; an unnamed end of an ipc connection is "ipc://", and what is no address is empty.</summary>
    public static string Format(EndPoint? address) => address switch
    {
        IPEndPoint ip => TcpEndpoint.Format(ip),
        UnixDomainSocketEndPoint unix => $"ipc://{unix}", // an abstract name begins with "@" in both notations
        _ => "",
    };

    // inproc is served by sockets, not by a transport; where one asks here, that kind of socket does not have it.
    private static EndpointError OrNoTransport(in EndpointError error, in EndpointText parts) => error.Fault != EndpointFault.None
        ? error
        : new EndpointError(EndpointFault.UnknownScheme, $"this kind of socket does not take {parts.Scheme} endpoints; use {EndpointText.Advice}");
}
