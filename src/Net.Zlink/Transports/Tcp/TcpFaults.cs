using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

internal static class TcpFaults
{
    private const string CheckNetwork = "check the address and the firewalls between";

    public static EndpointError Bind(SocketException exception, IPEndPoint endPoint, TcpSettings settings)
    {
        var os = exception.SocketErrorCode;
        if (os == SocketError.SocketError && settings.Device.Length > 0)
        {
            return new EndpointError(ZlinkError.NoDevice,
                $"this machine has no device {EndpointError.Quote(settings.Device)}; check BindToDevice", os);
        }

        var code = os == SocketError.TooManyOpenSockets ? ZlinkError.TooManySockets : ZlinkError.AddressInUse;
        var port = endPoint.Port.ToString(CultureInfo.InvariantCulture);
        string sentence = os switch
        {
            SocketError.AddressAlreadyInUse when endPoint.Port == 0 =>
                "the system has no free port, or others took each port that it offered; close some connections or listeners, or "
                    + "name a port",
            SocketError.AddressAlreadyInUse when settings.ShareAddress =>
                $"port {port} is in use by a socket that does not share it; stop that program, or choose another port (0 for any free one)",
            SocketError.AddressAlreadyInUse =>
                $"port {port} is in use, by another program or an earlier Bind of this one; stop or unbind that, or choose another port "
                    + $"(0 for any free one)",
            SocketError.AddressNotAvailable =>
                $"{endPoint.Address} is not an address of this machine; use * for all of its addresses, or one that it has",
            SocketError.AccessDenied =>
                $"this process may not listen on port {port}; choose a port above 1023, or give it the privilege",
            SocketError.AddressFamilyNotSupported when endPoint.AddressFamily == AddressFamily.InterNetworkV6 =>
                "this machine has no IPv6; leave the IPv6 option off",
            SocketError.AddressFamilyNotSupported =>
                "this machine has no IPv4; set the IPv6 option and use an IPv6 address",
            SocketError.TooManyOpenSockets => EndpointError.NoDescriptors,
            SocketError.InvalidArgument or SocketError.ProtocolOption =>
                $"the system refused {endPoint} or a socket option ({exception.Message}); check the keep-alive options and an address's "
                    + $"zone",
            _ => $"the system refused to listen at {endPoint} ({exception.Message}); try another address or port",
        };
        return new EndpointError(code, sentence, os);
    }

    public static DialResult TimedOut(string what, TimeSpan timeout) =>
        new(
            null,
            SocketError.TimedOut,
            $"{what} within the {timeout.TotalMilliseconds:0} ms given; {CheckNetwork}, or raise the connect timeout");

    public static DialResult SourceRefused(SocketException exception, IPEndPoint source) =>
        new(null, exception.SocketErrorCode, exception.SocketErrorCode switch
        {
            SocketError.AddressAlreadyInUse => $"the source {source} is in use; use source port 0 for any free one",
            SocketError.AddressNotAvailable => $"the source {source} is not an address of this machine; use one that it has",
            _ => $"the system refused the source {source} ({exception.Message}); try another",
        });

    public static DialResult Refused(SocketError error, IPEndPoint remote) => new(null, error, error switch
    {
        SocketError.ConnectionRefused => $"no process listens at {remote}; start the server, or check the port",
        SocketError.TimedOut => $"{remote} did not answer; {CheckNetwork}",
        SocketError.NetworkUnreachable or SocketError.HostUnreachable or SocketError.NetworkDown or SocketError.HostDown =>
            $"there is no network route to {remote}; check the address and this machine's network",
        SocketError.TooManyOpenSockets => EndpointError.NoDescriptors,
        SocketError.AddressNotAvailable when remote.AddressFamily == AddressFamily.InterNetworkV6 =>
            $"this machine has no IPv6 address or no free port for a connection to {remote}, or that port is 0; switch IPv6 on "
            + "(net.ipv6.conf.all.disable_ipv6), or use an IPv4 address",
        SocketError.AddressAlreadyInUse or SocketError.AddressNotAvailable =>
            $"this machine has no free port for a connection to {remote}, or that port is 0; close connections, or check the port",
        SocketError.AddressFamilyNotSupported => $"this machine has no address of the family of {remote}; use another address",
        SocketError.InvalidArgument =>
            $"the system refused {remote} or a socket option; check the keep-alive options and an address's zone",
        _ => $"connecting to {remote} failed ({new SocketException((int)error).Message}); {CheckNetwork}",
    });

    public static DialResult AllFailed(TcpHost host, int count, DialResult last)
    {
        var name = EndpointError.Quote(host.Text);
        return last with { Sentence = $"none of the {count} addresses of {name} accepted the connection; the last: {last.Sentence}" };
    }
}
