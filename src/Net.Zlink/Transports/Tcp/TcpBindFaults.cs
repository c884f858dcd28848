using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

internal static class TcpBindFaults
{
    public static EndpointError Describe(SocketException exception, IPEndPoint endPoint, TcpSettings settings)
    {
        var os = exception.SocketErrorCode;
        if (os == SocketError.SocketError && settings.Device.Length > 0)
        {
            return new EndpointError(EndpointFault.NoSuchName,
                $"this machine has no device {EndpointError.Quote(settings.Device)}; check BindToDevice", os);
        }

        var fault = os switch
        {
            SocketError.AddressAlreadyInUse => EndpointFault.AddressInUse,
            SocketError.TooManyOpenSockets => EndpointFault.NoDescriptors,
            _ => EndpointFault.NotBindable,
        };
        return new EndpointError(fault, Sentence(os, exception.Message, endPoint, settings.ShareAddress), os);
    }

    private static string Sentence(SocketError os, string message, IPEndPoint endPoint, bool shareAddress)
    {
        var port = endPoint.Port.ToString(CultureInfo.InvariantCulture);
        return os switch
        {
            SocketError.AddressAlreadyInUse when endPoint.Port == 0 =>
                "the system has no free port, or others took each port that it offered; close some connections or listeners, or "
                    + "name a port",
            SocketError.AddressAlreadyInUse when shareAddress =>
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
            SocketError.TooManyOpenSockets =>
                "the process or the machine is out of file descriptors; close some, or raise the limit (ulimit -n)",
            SocketError.InvalidArgument or SocketError.ProtocolOption =>
                $"the system refused {endPoint} or a socket option ({message}); check the keep-alive options and an address's zone",
            _ => $"the system refused to listen at {endPoint} ({message}); try another address or port",
        };
    }
}
