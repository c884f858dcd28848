using System.Net;
using Net.Zlink.Transports.Tcp;

namespace Net.Zlink.Transports.Tls;

internal sealed class TlsBindTarget(string text, TcpBindAddress address) : BindTarget(text)
{
    private readonly TcpBindTarget _tcp = new(text, address);

    public override BindResult Bind(TransportSettings settings)
    {
        var credentials = new TlsCredentials(settings.Tls);
        if (credentials.Check() is { } complaint)
        {
            return new BindResult(null, EndpointError.Invalid(complaint));
        }

        BindResult bound = _tcp.Bind(settings);
        return bound.Listener is TcpListener listener
            ? bound with
            {
                Listener = new UpgradedListener(
                    listener,
                    EndpointText.Tls,
                    TcpEndpoint.Format(listener.LocalEndPoint, EndpointText.Tls),
                    new TlsUpgrade(credentials, settings.Tls, host: null, settings.HandshakeTimeout)),
            }
            : bound;
    }

    public override bool Names(ITransportListener listener) => base.Names(listener)
        || (listener is UpgradedListener { Scheme: EndpointText.Tls } tls && _tcp.Names(tls.Inner));

    public override bool Names(ConnectTarget target) => target is { Scheme: EndpointText.Tls, Literal: { } literal } && _tcp.Names(literal);
}

internal sealed class TlsConnectTarget(string text, TcpConnectAddress address) : ConnectTarget(text, EndpointText.Tls)
{
    public override IPEndPoint? Literal => address.Literal;

    public override Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        TcpDialer.DialAsync(address, settings.Tcp, time, connecting, cancellation);

    public override WireUpgrade Upgrade(TransportSettings settings) =>
        new TlsUpgrade(new TlsCredentials(settings.Tls), settings.Tls, settings.Tls.HostName.Length > 0 ? settings.Tls.HostName
            : address.Host.Text, settings.HandshakeTimeout);
}
