using System.Globalization;
using System.Net.Sockets;
using Net.Zlink.Transports.Tcp;
using Net.Zlink.Transports.Tls;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>As in the native core any path connects, unless the options restrict it.</summary>
internal sealed class WebSocketBindTarget(string text, bool isSecure, TcpBindAddress address, string path) : BindTarget(text)
{
    public override BindResult Bind(TransportSettings settings)
    {
        if (settings.WebSocket.Check() is { } unusable)
        {
            return new BindResult(null, EndpointError.Invalid(unusable));
        }

        TlsUpgrade? tls = null;
        string scheme = isSecure ? EndpointText.Wss : EndpointText.Ws;
        if (isSecure)
        {
            var credentials = new TlsCredentials(settings.Tls);
            if (credentials.Check() is { } complaint)
            {
                return new BindResult(null, EndpointError.Invalid(complaint));
            }

            tls = new TlsUpgrade(credentials, settings.Tls, host: null, settings.HandshakeTimeout);
        }

        BindResult bound = Tcp.TcpListener.Bind(address, settings.Tcp);
        if (bound.Listener is not Tcp.TcpListener listener)
        {
            return bound;
        }

        string host = address.Host.Address?.AddressFamily == AddressFamily.InterNetworkV6 ? $"[{address.Host.Text}]" : address.Host.Text;
        string endpoint = string.Create(CultureInfo.InvariantCulture, $"{scheme}://{host}:{listener.LocalEndPoint.Port}{path}");
        return bound with
        {
            Listener = new UpgradedListener(
            listener, scheme, endpoint, new WebSocketServerUpgrade(
            scheme, tls, settings.WebSocket, settings.HandshakeTimeout, settings.CloseTimeout))
        };
    }
}

internal sealed class WebSocketConnectTarget(string text, bool isSecure, TcpConnectAddress address, string path)
    : ConnectTarget(text, isSecure ? EndpointText.Wss : EndpointText.Ws)
{
    public override Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        TcpDialer.DialAsync(address, settings.Tcp, time, connecting, cancellation);

    public override WireUpgrade Upgrade(TransportSettings settings)
    {
        TlsUpgrade? tls = isSecure
            ? new TlsUpgrade(new TlsCredentials(settings.Tls), settings.Tls, settings.Tls.HostName.Length > 0 ? settings.Tls.HostName
                : address.Host.Text, settings.HandshakeTimeout)
            : null;

        // Without the zone of an IPv6 address, which is local to this machine (RFC 6874, 4).
        string host = address.Host.Address?.AddressFamily == AddressFamily.InterNetworkV6 ? $"[{address.Host.Text.Split('%')[0]}]"
            : address.Host.Text;
        return new WebSocketClientUpgrade(Scheme, tls, string.Create(CultureInfo.InvariantCulture, $"{host}:{address.Port}"), path,
            settings.WebSocket, settings.HandshakeTimeout, settings.CloseTimeout);
    }
}
