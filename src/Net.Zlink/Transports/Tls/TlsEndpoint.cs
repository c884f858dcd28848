using Net.Zlink.Transports.Tcp;

namespace Net.Zlink.Transports.Tls;

internal sealed class TlsEndpoint(EndpointText text, TcpAddress address) : TcpEndpoint(text, address)
{
    public static new TransportEndpoint? Parse(in EndpointText text, EndpointUse use, out EndpointError error) =>
        TcpAddress.Parse(text.Remainder, use, out error) is { } address ? new TlsEndpoint(text, address) : null;

    public override BindResult Listen(TransportSettings settings) => TlsUpgrade.CreateServer(settings, out TlsUpgrade upgrade)
        is { } complaint ? new BindResult(null, EndpointError.Invalid(complaint)) : TcpBinder.Bind(this, settings.Tcp, upgrade);

    public override WireUpgrade DialUpgrade(TransportSettings settings) => TlsUpgrade.CreateClient(settings, Host);
}
