using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

/// <summary>A tcp endpoint to bind.</summary>
/// <param name="text">The endpoint as it was given.</param>
/// <param name="address">What it says.</param>
/// <param name="names">Tells what it names; null: the system.</param>
internal sealed class TcpBindTarget(string text, TcpBindAddress address, NameSource? names = null) : BindTarget(text)
{
    // What the text names, by family: asked once and kept, that there is no answer too. A socket may have thousands of endpoints of one
    // port, and a look-up takes from 60 us to half a minute.
    private readonly Dictionary<bool, IPEndPoint?> _named = [];

    /// <inheritdoc/>
    public override BindResult Bind(TransportSettings settings) => TcpListener.Bind(address, settings.Tcp);

    /// <summary>
    /// Beside the listener's own text every name of its address and port: localhost:5555 means a listener at 127.0.0.1:5555. A wildcard
    /// means none: as natively it must be named as it was bound, or by its resolved endpoint.
    /// </summary>
    public override bool Names(ITransportListener listener) => base.Names(listener)
        || (listener is TcpListener tcp && Names(tcp.LocalEndPoint));

    /// <summary>As natively every name of an address and port that were dialled in numbers, but not the numbers of a name.</summary>
    public override bool Names(ConnectTarget target) => target is { Scheme: EndpointText.Tcp, Literal: { } literal } && Names(literal);

    /// <summary>Whether the text resolves to that address and port. Looked up at most once.</summary>
    public bool Names(IPEndPoint there) =>
        address.Host.Kind != TcpHostKind.Any
        && address.Port == there.Port // compared first: another port needs no look-up
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
