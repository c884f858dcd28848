using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

internal static class TcpEndpoint
{
    public static string Format(IPEndPoint endPoint, string scheme) => endPoint.AddressFamily == AddressFamily.InterNetworkV6
        ? string.Create(CultureInfo.InvariantCulture, $"{scheme}://[{endPoint.Address}]:{endPoint.Port}")
        : string.Create(CultureInfo.InvariantCulture, $"{scheme}://{endPoint.Address}:{endPoint.Port}");
}
