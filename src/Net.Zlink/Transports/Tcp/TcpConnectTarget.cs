using System.Net;

namespace Net.Zlink.Transports.Tcp;

/// <summary>A tcp endpoint to connect to.</summary>
internal sealed class TcpConnectTarget(string text, TcpConnectAddress address) : ConnectTarget(text, EndpointText.Tcp)
{
    /// <inheritdoc/>
    public override IPEndPoint? Literal => address.Literal;

    /// <inheritdoc/>
    public override Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        TcpDialer.DialAsync(address, settings.Tcp, time, connecting, cancellation);
}
