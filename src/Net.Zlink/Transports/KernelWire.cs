using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>A wire that owns a socket of the system.</summary>
internal abstract class KernelWire : Wire
{
    protected KernelWire(Socket socket, Transport transport)
        : base(transport)
    {
        Socket = socket;
        RemoteEndPoint = AddressOf(socket, remote: true);
        LocalEndPoint = AddressOf(socket, remote: false);
    }

    public override long Handle => Socket.Handle;

    public override string PeerAddress => RemoteEndPoint is IPEndPoint ? base.PeerAddress : IpcPeer.Describe(Socket);

    public override bool HasUnread => Examine(Socket, SelectMode.SelectRead);

    public override bool IsWritable => Examine(Socket, SelectMode.SelectWrite);

    public override int UnreadBytes
    {
        get
        {
            try
            {
                return Socket.Available;
            }
            catch (SocketException)
            {
                return 0;
            }
        }
    }

    /// <summary>For a handshake, which makes another wire of it.</summary>
    public Socket Socket { get; }

    /// <summary>The next operation would not wait; it says whether it fails.</summary>
    public static bool Examine(Socket socket, SelectMode what)
    {
        try
        {
            return socket.Poll(TimeSpan.Zero, what);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return true;
        }
    }

    public override void AvoidReset() => TryShutDown();

    protected bool TryShutDown()
    {
        try
        {
            Socket.Shutdown(SocketShutdown.Send);
            return true;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return false; // Closed already.
        }
    }

    private static EndPoint? AddressOf(Socket socket, bool remote)
    {
        try
        {
            return remote ? socket.RemoteEndPoint : socket.LocalEndPoint;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return null;
        }
    }
}
