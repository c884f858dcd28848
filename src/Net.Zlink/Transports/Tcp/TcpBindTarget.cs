using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

/// <summary>A tcp endpoint to bind.</summary>
internal sealed class TcpBindTarget(string text, TcpBindAddress address) : BindTarget(text)
{
    /// <inheritdoc/>
    public override BindResult Bind(TransportSettings settings) => TcpListener.Bind(address, settings.Tcp);

    /// <summary>
    /// Beside the listener's own text every name of its address and port: localhost:5555 means a listener at 127.0.0.1:5555. A wildcard
    /// means none: as natively it must be named as it was bound, or by its resolved endpoint.
    /// </summary>
    public override bool Names(ITransportListener listener) => base.Names(listener) || (listener is TcpListener tcp && Names(tcp.LocalEndPoint));

    /// <summary>As natively every name of an address and port that were dialled in numbers, but not the numbers of a name.</summary>
    public override bool Names(ConnectTarget target) => target is { Scheme: EndpointText.Tcp, Literal: { } literal } && Names(literal);

    /// <summary>Whether the text resolves to that address and port.</summary>
    public bool Names(IPEndPoint there) =>
        address.Host.Kind != TcpHostKind.Any
        && address.Port == there.Port // compared first: another port needs no look-up
        && TcpResolver.TryResolveBind(address, there.AddressFamily == AddressFamily.InterNetworkV6, NameSource.System, out var resolved, out _)
        && resolved.Equals(there);
}
