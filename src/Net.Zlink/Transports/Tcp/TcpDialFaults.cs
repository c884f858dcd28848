using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

internal static class TcpDialFaults
{
    private const string CheckNetwork = "check the address and the firewalls between";

    public static DialResult Cancelled(TcpHost host) =>
        new(null, SocketError.OperationAborted, $"connecting to {EndpointError.Quote(host.Text)} was cancelled");

    public static DialResult TimedOut(string what, TimeSpan timeout) =>
        new(
            null,
            SocketError.TimedOut,
            $"{what} within the {timeout.TotalMilliseconds:0} ms given; {CheckNetwork}, or raise the connect timeout");

    public static DialResult Unresolved(EndpointError error) =>
        new(null, error.OsError == SocketError.Success ? SocketError.HostNotFound : error.OsError, error.Sentence);

    public static DialResult SourceUnresolved(EndpointError error) =>
        new(null, SocketError.AddressNotAvailable, error.Sentence);

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
        SocketError.TooManyOpenSockets =>
            "the process or the machine is out of file descriptors; close some, or raise the limit (ulimit -n)",
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
