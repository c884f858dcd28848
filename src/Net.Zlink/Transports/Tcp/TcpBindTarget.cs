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
    public override bool Names(ITransportListener listener) =>
        base.Names(listener)
        || (listener is TcpListener tcp
            && address.Host.Kind != TcpHostKind.Any
            && address.Port == tcp.LocalEndPoint.Port // compared first: another port needs no look-up
            && TcpResolver.TryResolveBind(
                address, tcp.LocalEndPoint.AddressFamily == System.Net.Sockets.AddressFamily.InterNetworkV6, NameSource.System, out var resolved, out _)
            && resolved.Equals(tcp.LocalEndPoint));
}
