using Net.Zlink.Transports.Tcp;

namespace Net.Zlink.Transports.Tls;

internal sealed class TlsEndpoint(EndpointText text, TcpAddress address) : TcpEndpoint(text, address)
{
    public static new bool TryParse(in EndpointText text, EndpointUse use, out TransportEndpoint endpoint, out EndpointError error)
    {
        bool isParsed = TcpAddress.TryParse(text.Remainder, use, out TcpAddress address, out error);
        endpoint = isParsed ? new TlsEndpoint(text, address) : null!;
        return isParsed;
    }

    public override BindResult Listen(TransportSettings settings) => TlsUpgrade.CreateServer(settings, out TlsUpgrade upgrade)
        is { } complaint ? new BindResult(null, EndpointError.Invalid(complaint)) : TcpBinder.Bind(this, settings.Tcp, upgrade);

    public override WireUpgrade DialUpgrade(TransportSettings settings) => TlsUpgrade.CreateClient(settings, Host);
}
