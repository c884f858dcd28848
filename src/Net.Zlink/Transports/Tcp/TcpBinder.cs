using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

internal static class TcpBinder
{
    // A port of the system's choice is only bound until we listen. Then another port is chosen; ten such cases in a row are no accident.
    private const int MaxPortChoices = 10;

    /// <summary>Connections wait in the kernel until the listener is started.</summary>
    public static BindResult Bind(
        TcpEndpoint endpoint,
        TcpSettings settings,
        WireUpgrade? upgrade,
        DescriptorHeadroom? headroom = null,
        Func<Socket, ValueTask<Socket>>? accept = null,
        Action<EndPoint>? bound = null)
    {
        if (TcpResolver.ResolveBind(endpoint.Address, settings.IPv6, endpoint.NameSource, out EndpointError error) is not { } endPoint)
        {
            return new BindResult(null, error);
        }

        for (int left = endPoint.Port == 0 ? MaxPortChoices : 1; ; left--)
        {
            Socket? socket = null;
            try
            {
                socket = Open(endPoint, settings);
                socket.Bind(endPoint);
                bound?.Invoke(socket.LocalEndPoint!);
                socket.Listen(settings.Backlog);
                Action<Socket>? prepare = TcpSocketOptions.AreInheritedByAccept
                    ? null
                    : accepted => TcpSocketOptions.ApplyTo(accepted, settings);
                var local = (IPEndPoint)socket.LocalEndPoint!;
                var listener = new SocketListener(socket, endpoint.Transport, endpoint.BoundText(local), prepare, headroom, accept)
                {
                    Upgrade = upgrade,
                    LocalEndPoint = local,
                };
                socket = null;
                return new BindResult(listener, EndpointError.None);
            }
            catch (SocketException e) when (e.SocketErrorCode == SocketError.AddressAlreadyInUse && left > 1)
            {
                // Another socket was first.
            }
            catch (SocketException e)
            {
                return new BindResult(null, TcpFaults.Bind(e, endPoint, settings));
            }
            finally
            {
                socket?.Dispose();
            }
        }
    }

    private static Socket Open(IPEndPoint endPoint, TcpSettings settings)
    {
        var socket = new Socket(endPoint.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            if (endPoint.AddressFamily == AddressFamily.InterNetworkV6)
            {
                socket.DualMode = true;
            }

            if (settings.ShareAddress)
            {
                socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, optionValue: true);
            }
            else if (OperatingSystem.IsWindows())
            {
                socket.ExclusiveAddressUse = true;
            }

            TcpSocketOptions.ApplyTo(socket, settings);
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}
