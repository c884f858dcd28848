using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

internal static class TcpEndpoint
{
    /// <summary>The numeric endpoint of an address, such as tcp://127.0.0.1:5555 or tls://[::ffff:127.0.0.1]:5555.</summary>
    public static string Format(IPEndPoint endPoint, string scheme) => endPoint.AddressFamily == AddressFamily.InterNetworkV6
        ? string.Create(CultureInfo.InvariantCulture, $"{scheme}://[{endPoint.Address}]:{endPoint.Port}")
        : string.Create(CultureInfo.InvariantCulture, $"{scheme}://{endPoint.Address}:{endPoint.Port}");
}
