using System.Net;
using System.Net.Sockets;
using Net.Zlink.Transports.Ipc;
using Net.Zlink.Transports.Tcp;
using Net.Zlink.Transports.Tls;
using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink.Transports;

internal static class Endpoints
{
    public static bool TryParseBind(string text, out BindTarget target, out EndpointError error)
    {
        target = null!;
        if (!EndpointText.TryParse(text, out EndpointText parts, out error))
        {
            return false;
        }

        switch (parts.Scheme)
        {
            case EndpointText.Tcp when TcpBindAddress.TryParse(parts.Remainder, out TcpBindAddress tcp, out error):
                target = new TcpBindTarget(text, tcp);
                return true;
            case EndpointText.Ipc when IpcAddress.TryParseBind(parts.Remainder, out IpcAddress ipc, out error):
                target = new IpcBindTarget(text, ipc);
                return true;
            case EndpointText.Tls when TcpBindAddress.TryParse(parts.Remainder, out TcpBindAddress tls, out error):
                target = new TlsBindTarget(text, tls);
                return true;
            case EndpointText.Ws or EndpointText.Wss when WebSocketPath.TrySplit(
                parts.Remainder, out string authority, out string path, out error)
                && TcpBindAddress.TryParse(authority, out TcpBindAddress web, out error):
                target = new WebSocketBindTarget(text, IsSecure(parts), web, path);
                return true;
            default:
                error = OrNoTransport(error, parts);
                return false;
        }
    }

    public static bool TryParseConnect(string text, out ConnectTarget target, out EndpointError error)
    {
        target = null!;
        if (!EndpointText.TryParse(text, out EndpointText parts, out error))
        {
            return false;
        }

        switch (parts.Scheme)
        {
            case EndpointText.Tcp when TcpConnectAddress.TryParse(parts.Remainder, out TcpConnectAddress tcp, out error):
                target = new TcpConnectTarget(text, tcp);
                return true;
            case EndpointText.Ipc when IpcAddress.TryParseConnect(parts.Remainder, out IpcAddress ipc, out error):
                target = new IpcConnectTarget(text, ipc);
                return true;
            case EndpointText.Tls when TcpConnectAddress.TryParse(parts.Remainder, out TcpConnectAddress tls, out error):
                target = new TlsConnectTarget(text, tls);
                return true;
            case EndpointText.Ws or EndpointText.Wss when WebSocketPath.TrySplit(
                parts.Remainder, out string authority, out string path, out error)
                && TcpConnectAddress.TryParse(authority, out TcpConnectAddress web, out error) && HasPort(web, out error):
                target = new WebSocketConnectTarget(text, IsSecure(parts), web, path);
                return true;
            default:
                error = OrNoTransport(error, parts);
                return false;
        }
    }

    /// <summary>
    /// An unnamed end of an ipc connection is "ipc://"; other values are empty. <paramref name="endpoint"/>: the bound or dialled endpoint:
    /// as in the native core, ws and wss addresses get its path.
    /// </summary>
    public static string Format(EndPoint? address, string scheme, string endpoint) => address switch
    {
        IPEndPoint ip when scheme is EndpointText.Ws or EndpointText.Wss => $"{TcpEndpoint.Format(ip, scheme)}{PathOf(endpoint)}",
        IPEndPoint ip => TcpEndpoint.Format(ip, scheme),
        UnixDomainSocketEndPoint unix => $"ipc://{EndpointText.Printable(unix.ToString())}",
        _ => "",
    };

    /// <summary>
    /// Our end of an accepted connection in events: its address, or its listener's endpoint if there is none (ipc, or a lost connection).
    /// </summary>
    public static string FormatLocal(EndPoint? address, string scheme, string endpoint) => address is IPEndPoint
        ? Format(address, scheme, endpoint) : endpoint;

    private static string PathOf(string endpoint)
    {
        int slash = endpoint.IndexOf('/', endpoint.IndexOf("://", StringComparison.Ordinal) + "://".Length);
        return slash < 0 ? "/" : endpoint[slash..];
    }

    private static bool HasPort(TcpConnectAddress address, out EndpointError error)
    {
        error = address.Port == 0 ? EndpointError.Invalid("port 0 cannot be connected to; use the port that Bind returned")
            : EndpointError.None;
        return error.Fault == EndpointFault.None;
    }

    private static bool IsSecure(in EndpointText parts) => string.Equals(parts.Scheme, EndpointText.Wss, StringComparison.Ordinal);

    private static EndpointError OrNoTransport(in EndpointError error, in EndpointText parts) => error.Fault != EndpointFault.None
        ? error
        : new EndpointError(EndpointFault.UnknownScheme,
            $"this kind of socket does not take {parts.Scheme} endpoints; use {EndpointText.Advice}");
}
