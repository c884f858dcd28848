using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

internal sealed class TcpListener : ITransportListener
{
    // A port of the system's choice is only bound until we listen. Then another port is chosen; ten such cases in a row are no accident.
    private const int MaxPortChoices = 10;

    private readonly AcceptLoop _loop;

    private TcpListener(Socket socket, AcceptLoop loop, TcpEndpoint endpoint, WireUpgrade? upgrade)
    {
        _loop = loop;
        Transport = endpoint.Transport;
        Upgrade = upgrade;
        LocalEndPoint = (IPEndPoint)socket.LocalEndPoint!;
        Endpoint = endpoint.BoundText(LocalEndPoint);
        Handle = socket.Handle;
    }

    public string Endpoint { get; }

    public Transport Transport { get; }

    public WireUpgrade? Upgrade { get; }

    public IPEndPoint LocalEndPoint { get; }

    public long Handle { get; }

    /// <summary>Connections wait in the kernel until <see cref="Start"/>.</summary>
    public static BindResult Bind(
        TcpEndpoint endpoint,
        TcpSettings settings,
        WireUpgrade? upgrade,
        DescriptorHeadroom? headroom = null,
        Func<Socket, SocketAsyncEventArgs, bool>? accept = null,
        Action<EndPoint>? bound = null)
    {
        headroom ??= DescriptorHeadroom.OfThisProcess();
        if (!TcpResolver.TryResolveBind(endpoint.Address, settings.IPv6, endpoint.NameSource, out var endPoint, out var error))
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
                var listener = new TcpListener(
                    socket, new AcceptLoop(socket, endpoint.Transport, prepare, headroom, accept), endpoint, upgrade);
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

    public void Start(IAcceptSink sink, TimeProvider time) => _loop.Start(sink, time);

    public void Close() => _loop.Close();

    public void Dispose() => _loop.Close();

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
