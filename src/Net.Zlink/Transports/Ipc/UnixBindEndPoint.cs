using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

/// <summary>
/// An address to bind whose file the runtime leaves alone. A socket bound with a <see cref="UnixDomainSocketEndPoint"/> deletes, when it is
/// disposed, whatever stands at that path by then: also the file of a successor. It does so for that very type only.
/// </summary>
internal sealed class UnixBindEndPoint(UnixDomainSocketEndPoint inner) : EndPoint
{
    /// <inheritdoc/>
    public override AddressFamily AddressFamily => AddressFamily.Unix;

    /// <inheritdoc/>
    public override SocketAddress Serialize() => inner.Serialize();

    /// <inheritdoc/>
    public override EndPoint Create(SocketAddress socketAddress) => inner.Create(socketAddress);

    /// <inheritdoc/>
    public override string ToString() => inner.ToString();
}
