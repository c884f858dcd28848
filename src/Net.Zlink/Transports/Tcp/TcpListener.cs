using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

/// <summary>A listening tcp socket. All members may be called from any thread.</summary>
internal sealed class TcpListener : ITransportListener
{
    // A port of the system's choice is only bound until we listen, and whoever asks for it by its number in that moment (on Unix an address
    // that nobody listens at may be bound twice) may listen first. So another one is asked for; ten such neighbours in a row are not
    // chance.
    private const int MaxPortChoices = 10;

    private readonly AcceptLoop _loop;

    private TcpListener(Socket socket, AcceptLoop loop)
    {
        _loop = loop;
        LocalEndPoint = (IPEndPoint)socket.LocalEndPoint!;
        Endpoint = TcpEndpoint.Format(LocalEndPoint, EndpointText.Tcp);
        Handle = socket.Handle;
    }

    /// <summary>The numeric endpoint with the real port.</summary>
    public string Endpoint { get; }

    /// <inheritdoc/>
    public string Scheme => EndpointText.Tcp;

    /// <inheritdoc/>
    public WireUpgrade? Upgrade => null;

    /// <summary>The address listened at.</summary>
    public IPEndPoint LocalEndPoint { get; }

    /// <inheritdoc/>
    public long Handle { get; }

    /// <summary>How often the sink threw.</summary>
    public long SinkFaults => _loop.SinkFaults;

    /// <summary>
    /// Binds and listens. A host name is looked up on the caller's thread. Connections wait in the kernel until <see cref="Start"/>.
    /// </summary>
    public static BindResult Bind(TcpBindAddress address, TcpSettings settings) =>
        Bind(address, settings, NameSource.System, DescriptorHeadroom.OfThisProcess(), accept: null);

    /// <summary>As above, with seams for tests.</summary>
    internal static BindResult Bind(
        TcpBindAddress address,
        TcpSettings settings,
        NameSource names,
        DescriptorHeadroom? headroom,
        Func<Socket, SocketAsyncEventArgs, bool>? accept,
        Action<EndPoint>? bound = null)
    {
        if (!TcpResolver.TryResolveBind(address, settings.IPv6, names, out var endPoint, out var error))
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
                var listener = new TcpListener(socket, new AcceptLoop(socket, prepare, headroom, accept));
                socket = null;
                return new BindResult(listener, EndpointError.None);
            }
            catch (SocketException e) when (e.SocketErrorCode == SocketError.AddressAlreadyInUse && left > 1)
            {
                // Somebody was quicker.
            }
            catch (SocketException e)
            {
                return new BindResult(null, TcpBindFaults.Describe(e, endPoint, settings));
            }
            finally
            {
                socket?.Dispose();
            }
        }
    }

    /// <inheritdoc/>
    public void Start(IAcceptSink sink, TimeProvider time) => _loop.Start(sink, time);

    /// <inheritdoc/>
    public void Close() => _loop.Close();

    /// <inheritdoc/>
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
                socket.ExclusiveAddressUse = true; // elsewhere a listening address is exclusive unless shared
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
