using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

/// <summary>
/// A socket that is bound with a <see cref="UnixDomainSocketEndPoint"/> deletes the file at that path when it is disposed, also a
/// successor's.
/// </summary>
internal sealed class UnixBindEndPoint(UnixDomainSocketEndPoint inner) : EndPoint
{
    private const int LargestAddress = 128;

    private bool _isBound;

    /// <summary>
    /// A peer may have bound itself to a longer name than the listener's. An accept then threw on a pool thread, so any local process could
    /// end this one.
    /// </summary>
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
