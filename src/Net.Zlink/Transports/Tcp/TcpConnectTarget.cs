using System.Net;

namespace Net.Zlink.Transports.Tcp;

internal sealed class TcpConnectTarget(string text, TcpConnectAddress address) : ConnectTarget(text, EndpointText.Tcp)
{
    public override IPEndPoint? Literal => address.Literal;

    public override Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        TcpDialer.DialAsync(address, settings.Tcp, time, connecting, cancellation);
}
