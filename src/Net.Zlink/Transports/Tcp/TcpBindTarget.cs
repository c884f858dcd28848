using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

internal sealed class TcpBindTarget(string text, TcpBindAddress address, NameSource? names = null) : BindTarget(text)
{
    // A socket may have thousands of endpoints on one port, and a lookup takes 60 us to half a minute.
    private readonly Dictionary<bool, IPEndPoint?> _named = [];

    public override BindResult Bind(TransportSettings settings) => TcpListener.Bind(address, settings.Tcp);

    /// <summary>
    /// A text also means a listener if its name resolves to the listener's address: localhost:5555 means one at 127.0.0.1:5555.
    /// </summary>
    public override bool Names(ITransportListener listener) => base.Names(listener)
        || (listener is TcpListener tcp && Names(tcp.LocalEndPoint));

    public override bool Names(ConnectTarget target) => target is { Scheme: EndpointText.Tcp, Literal: { } literal } && Names(literal);

    public bool Names(IPEndPoint there) =>
        address.Host.Kind != TcpHostKind.Any
        && address.Port == there.Port
        && there.Equals(Named(there.AddressFamily == AddressFamily.InterNetworkV6));

    private IPEndPoint? Named(bool ipv6)
    {
        if (!_named.TryGetValue(ipv6, out IPEndPoint? named))
        {
            named = TcpResolver.TryResolveBind(address, ipv6, names ?? NameSource.System, out IPEndPoint resolved, out _) ? resolved : null;
            _named.Add(ipv6, named);
        }

        return named;
    }
}
