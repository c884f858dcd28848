using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

/// <summary>
/// A bind address whose file the runtime leaves alone. A socket that is bound with a <see cref="UnixDomainSocketEndPoint"/> deletes the
/// file at that path when it is disposed, also a successor's. It does so for that type only.
/// </summary>
internal sealed class UnixBindEndPoint(UnixDomainSocketEndPoint inner) : EndPoint
{
    // The system's sockaddr_storage: no address is longer.
    private const int LargestAddress = 128;

    private bool _isBound;

    /// <summary>A socket is bound to it. From here on the runtime reads the address only for the size of its peers' addresses.</summary>
    /// <remarks>
    /// A peer may have bound itself to a longer name than the listener's. An accept then threw on a pool thread, so any local process could
    /// end this one.
    /// </remarks>
    public void OnBound() => _isBound = true;

    public override AddressFamily AddressFamily => AddressFamily.Unix;

    public override SocketAddress Serialize()
    {
        SocketAddress address = inner.Serialize();
        if (!_isBound)
        {
            return address;
        }

        var roomy = new SocketAddress(AddressFamily.Unix, LargestAddress);
        address.Buffer.Span[..address.Size].CopyTo(roomy.Buffer.Span);
        return roomy;
    }

    public override EndPoint Create(SocketAddress socketAddress) => inner.Create(socketAddress);

    public override string ToString() => inner.ToString();
}
