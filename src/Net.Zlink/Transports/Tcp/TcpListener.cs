using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

/// <summary>The outcome of a bind: a listener, or an error.</summary>
/// <param name="Listener">Bound and listening, not yet accepting; null when <paramref name="Error"/> says why not.</param>
/// <param name="Error">What went wrong, or <see cref="EndpointError.None"/>.</param>
internal readonly record struct TcpBindResult(TcpListener? Listener, EndpointError Error);

/// <summary>A listening tcp socket. All members may be called from any thread.</summary>
internal sealed class TcpListener : IDisposable
{
    private readonly AcceptLoop _loop;

    private TcpListener(Socket socket, AcceptLoop loop)
    {
        _loop = loop;
        LocalEndPoint = (IPEndPoint)socket.LocalEndPoint!;
        Endpoint = TcpEndpoint.Format(LocalEndPoint);
        Handle = socket.Handle;
    }

    /// <summary>The numeric endpoint with the real port: the "last endpoint" of a bind.</summary>
    public string Endpoint { get; }

    /// <summary>The address listened at.</summary>
    public IPEndPoint LocalEndPoint { get; }

    /// <summary>The system's number of the socket, for events; it stays readable after <see cref="Close"/>.</summary>
    public long Handle { get; }

    /// <summary>How often the sink threw.</summary>
    public long SinkFaults => _loop.SinkFaults;

    /// <summary>
    /// Binds and listens. A host name is looked up on the caller's thread. Connections wait in the kernel until <see cref="Start"/>.
    /// </summary>
    public static TcpBindResult Bind(TcpBindAddress address, TcpSettings settings) =>
        Bind(address, settings, NameSource.System, DescriptorHeadroom.OfThisProcess(), accept: null);

    /// <summary>As above, with seams for tests.</summary>
    internal static TcpBindResult Bind(
        TcpBindAddress address,
        TcpSettings settings,
        NameSource names,
        DescriptorHeadroom? headroom,
        Func<Socket, SocketAsyncEventArgs, bool>? accept)
    {
        if (!TcpResolver.TryResolveBind(address, settings.IPv6, names, out var endPoint, out var error))
        {
            return new TcpBindResult(null, error);
        }

        Socket? socket = null;
        try
        {
            socket = Open(endPoint, settings);
            socket.Bind(endPoint);
            socket.Listen(settings.Backlog);
            Action<Socket>? prepare = TcpSocketOptions.AreInheritedByAccept
                ? null
                : accepted => TcpSocketOptions.ApplyTo(accepted, settings);
            var listener = new TcpListener(socket, new AcceptLoop(socket, prepare, headroom, accept));
            socket = null;
            return new TcpBindResult(listener, EndpointError.None);
        }
        catch (SocketException e)
        {
            return new TcpBindResult(null, TcpBindFaults.Describe(e, endPoint, settings.ShareAddress));
        }
        finally
        {
            socket?.Dispose();
        }
    }

    /// <summary>Begins to accept, on pool threads. Once only.</summary>
    public void Start(IAcceptSink sink, TimeProvider time) => _loop.Start(sink, time);

    /// <summary>
    /// Stops accepting and frees the address. Idempotent. No call of <see cref="IAcceptSink.OnAccepted"/> begins after this has
    /// returned; one that runs on another thread is waited for, so do not hold a lock that the sink takes. Connections handed on stay
    /// open; those still in the kernel's queue are reset.
    /// </summary>
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
