using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

/// <summary>An endpoint of tcp, and of the transports over it.</summary>
internal class TcpEndpoint(EndpointText text, TcpAddress address, NameSource? names = null) : WireEndpoint(text)
{
    // A socket may have thousands of endpoints on one port, and a lookup takes 60 us to half a minute.
    private readonly Dictionary<bool, IPEndPoint?> _named = [];

    public override string Host => address.Host.Text;

    public override int Port => address.Port;

    public TcpAddress Address => address;

    public NameSource NameSource { get; } = names ?? NameSource.System;

    public static TransportEndpoint? Parse(in EndpointText text, EndpointUse use, out EndpointError error) =>
        TcpAddress.Parse(text.Remainder, use, out error) is { } address ? new TcpEndpoint(text, address) : null;

    public static string Format(EndPoint? address, string scheme, RedactedEndpoint endpoint) => address is not IPEndPoint ip ? ""
        : ip.AddressFamily == AddressFamily.InterNetworkV6
            ? string.Create(CultureInfo.InvariantCulture, $"{scheme}://[{ip.Address}]:{ip.Port}")
            : string.Create(CultureInfo.InvariantCulture, $"{scheme}://{ip.Address}:{ip.Port}");

    public override BindResult Listen(TransportSettings settings) => TcpBinder.Bind(this, settings.Tcp, upgrade: null);

    public override Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        new TcpDialer(this, settings.Tcp, time, connecting, cancellation).DialAsync();

    /// <summary>What a listener for this is called that got an address from the system.</summary>
    public virtual string BoundText(IPEndPoint local) => Format(local, Scheme, Text);

    /// <summary>
    /// A text also means a listener if its name resolves to the listener's address: localhost:5555 means one at 127.0.0.1:5555.
    /// </summary>
    public override bool Names(ITransportListener listener) => base.Names(listener)
        || (listener is SocketListener { LocalEndPoint: { } there } other && IsOfSameTransport(other.Transport)
            && Names(there));

    public override bool Names(WireEndpoint dialled) =>
        dialled is TcpEndpoint { Address.Literal: { } literal } && IsOfSameTransport(dialled.Transport) && Names(literal);

    public bool Names(IPEndPoint there) =>
        !address.Host.IsAny
        && address.Port == there.Port
        && there.Equals(Named(there.AddressFamily == AddressFamily.InterNetworkV6));

    /// <summary>With a path, an address does not tell two endpoints apart.</summary>
    private bool IsOfSameTransport(Transport other) => Path.Length == 0 && string.Equals(Scheme, other.Scheme, StringComparison.Ordinal);

    private IPEndPoint? Named(bool ipv6)
    {
        if (!_named.TryGetValue(ipv6, out IPEndPoint? named))
        {
            named = TcpResolver.ResolveBind(address, ipv6, NameSource, out _);
            _named.Add(ipv6, named);
        }

        return named;
    }
}
