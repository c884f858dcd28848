using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

/// <summary>
/// An address to bind whose file the runtime leaves alone. A socket bound with a <see cref="UnixDomainSocketEndPoint"/> deletes, when it is
/// disposed, whatever stands at that path by then: also the file of a successor. It does so for that very type only.
/// </summary>
internal sealed class UnixBindEndPoint(UnixDomainSocketEndPoint inner) : EndPoint
{
    // The system's sockaddr_storage: no socket's address is longer.
    private const int LargestAddress = 128;

    private bool _isBound;

    /// <summary>A socket is bound to it. From here on the runtime asks for the address only to see how much room its peers' take.</summary>
    /// <remarks>A peer may have bound itself to a name, and where that was longer than the listener's an accept threw on a thread of the
    /// pool: any local process could end this one.</remarks>
    public void OnBound() => _isBound = true;

    /// <inheritdoc/>
    public override AddressFamily AddressFamily => AddressFamily.Unix;

    /// <inheritdoc/>
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

    /// <inheritdoc/>
    public override EndPoint Create(SocketAddress socketAddress) => inner.Create(socketAddress);

    /// <inheritdoc/>
    public override string ToString() => inner.ToString();
}
